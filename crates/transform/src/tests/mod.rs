//! Tests of the passes, on handwritten systems and on generated ones of known status.

mod addresses;
mod control;
mod decide;
mod equations;
mod functional;
mod generate;
mod hand_made;
mod invariants;
mod links;
mod narrow;
mod numerals;
mod orders;
mod random;
mod reads;
mod rebase;
mod replacement;
mod shared_lemmas;
mod sizes;
mod split;
mod values;
mod variants;
