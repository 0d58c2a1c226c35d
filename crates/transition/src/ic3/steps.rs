//! Clauses as guards and functions of bits, and the ways through them.
//!
//! A clause `P(x) ∧ φ ⇒ Q(x')` becomes a guard and a bit for each bit of `x'`, over the bits of `x`
//! and inputs. A variable that a conjunct of `φ` defines by an equation is what it says; all others
//! are inputs, and what `φ` says of them is in the guard.
//!
//! A [`Way`] is one implicant of `φ`, of those that disjunctions leave open. More is defined on it,
//! so less of a state matters.
//!
//! Invariant: the clause applies to a state and leads to another iff for some inputs the guard
//! holds and the functions give the other; and if those of one of its ways do.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::level::Reached;
use alphorn_bits::{Bit, Blaster, Gates, NotBits, Values, Word, Words};
use alphorn_chc::{PredicateId, Reachability, System};
use alphorn_proof::{Stop, incomplete};
use alphorn_term::run::{Budget, Context};
use alphorn_term::{BigUint, Op, Sort, TermId, TermStore};

/// A clause.
pub(super) struct Step {
    /// Index of the clause.
    pub clause: usize,
    /// `None` for a fact.
    pub from: Option<PredicateId>,
    /// `None` for a query.
    pub to: Option<PredicateId>,
    pub guard: Bit,
    /// The state after it.
    pub next: Vec<Bit>,
    /// The inputs that the guard and the state after it depend on.
    pub inputs: Vec<Bit>,
    /// The clause's variables, and those of the body and of the head.
    vars: Vec<TermId>,
    before: Vec<TermId>,
    after: Vec<TermId>,
    /// Its constraint, and the bits of that and of all its terms.
    constraint: TermId,
    words: Words,
}

/// One way through a clause.
pub(super) struct Way {
    pub guard: Bit,
    /// The state after it.
    pub next: Vec<Bit>,
    /// The bits of all the clause's variables.
    words: Vec<(TermId, Word)>,
}

/// All clauses on a way from facts to queries.
pub(super) struct Steps {
    terms: Rc<TermStore>,
    budget: Budget,
    pub gates: Gates,
    /// The bits of a state; each predicate uses the first of them.
    pub state: Vec<Bit>,
    pub all: Vec<Step>,
    /// By step and literals.
    ways: FxHashMap<(usize, Vec<TermId>), Rc<Way>>,
    values: Values,
}

impl Steps {
    /// Makes gates of clauses.
    ///
    /// # Errors
    /// The end of the budget; what bits do not express, or would be too much.
    pub fn new(
        system: &System,
        reachability: &Reachability,
        cx: &Context,
    ) -> Result<Result<Steps, NotBits>, Stop> {
        let mut steps = Steps {
            terms: system.terms.clone(),
            budget: cx.budget.clone(),
            gates: Gates::default(),
            state: Vec::new(),
            all: Vec::new(),
            ways: FxHashMap::default(),
            values: Values::default(),
        };
        for &clause in reachability.clauses() {
            match steps.add(system, clause) {
                Err(NotBits::Stopped) => return Err(steps.stop(&NotBits::Stopped)),
                Err(error) => return Ok(Err(error)),
                Ok(()) => {}
            }
        }
        Ok(Ok(steps))
    }

    /// The end of the budget, or of what can be expressed.
    fn stop(&self, error: &NotBits) -> Stop {
        match self.budget.stop() {
            Some(reason) => Stop::Reason(reason),
            None => incomplete(error.to_string()),
        }
    }

    fn add(&mut self, system: &System, index: usize) -> Result<(), NotBits> {
        let terms = &*self.terms;
        let clause = &system.clauses[index];
        let before: Vec<TermId> = clause.body.iter().flat_map(|a| &a.args).copied().collect();
        let after: Vec<TermId> = clause.head.iter().flat_map(|a| &a.args).copied().collect();
        let mut width = 0;
        for &var in &before {
            width += Blaster::width(terms, var)?;
        }
        while self.state.len() < width {
            self.state.push(self.gates.input());
        }
        let first_own = self.gates.len();
        let mut blaster = Blaster::new(terms, &mut self.gates, &self.budget);
        bind_state(terms, &mut blaster, &self.state, &before)?;
        let mut definer = Definer {
            terms,
            blaster,
            words: None,
        };
        let guard = definer.all(terms.conjuncts(clause.constraint))?;
        let vars = clause.vars(terms);
        for &var in &vars {
            definer.free(var)?;
        }
        // So that each of its formulas has a bit.
        definer.blaster.bit(clause.constraint)?;
        let words = definer.blaster.into_words();
        self.all.push(Step {
            clause: index,
            from: clause.body.first().map(|atom| atom.predicate),
            to: clause.head.as_ref().map(|atom| atom.predicate),
            guard,
            next: after
                .iter()
                .flat_map(|v| words[v].iter().copied())
                .collect(),
            inputs: self.gates.inputs_from(first_own).collect(),
            vars,
            before,
            after,
            constraint: clause.constraint,
            words,
        });
        Ok(())
    }

    /// The steps that are queries.
    pub fn queries(&self) -> Vec<usize> {
        let all = self.all.iter().enumerate();
        let queries = all.filter(|(_, step)| step.to.is_none());
        queries.map(|(index, _)| index).collect()
    }

    /// The way through a clause that a solution has taken.
    ///
    /// # Errors
    /// There would be too many gates; the end of the budget.
    pub fn way(&mut self, reached: &Reached) -> Result<Rc<Way>, Stop> {
        let step = &self.all[reached.step];
        self.values.clear();
        for latch in &reached.state {
            let bit = self.state[latch.place()];
            self.values.set(&self.gates, bit, !latch.is_negated());
        }
        for (&input, &value) in step.inputs.iter().zip(&reached.inputs) {
            self.values.set(&self.gates, input, value);
        }
        let literals = implicant(&self.terms, step, &self.gates, &mut self.values);
        let key = (reached.step, literals);
        if let Some(way) = self.ways.get(&key) {
            return Ok(way.clone());
        }
        let way = self.make_way(reached.step, &key.1);
        let way = Rc::new(way.map_err(|error| self.stop(&error))?);
        self.ways.insert(key, way.clone());
        Ok(way)
    }

    fn make_way(&mut self, step: usize, literals: &[TermId]) -> Result<Way, NotBits> {
        let terms = &*self.terms;
        let step = &self.all[step];
        let mut blaster = Blaster::new(terms, &mut self.gates, &self.budget);
        bind_state(terms, &mut blaster, &self.state, &step.before)?;
        let mut definer = Definer {
            terms,
            blaster,
            words: Some(&step.words),
        };
        let guard = definer.all(literals.to_vec())?;
        for &var in &step.vars {
            definer.free(var)?;
        }
        let words = definer.blaster.into_words();
        let vars = step.vars.iter();
        Ok(Way {
            guard,
            next: step
                .after
                .iter()
                .flat_map(|v| words[v].iter().copied())
                .collect(),
            words: vars.map(|&v| (v, words[&v].clone())).collect(),
        })
    }

    /// The values of a clause's variables on a way from a state, and the state after it.
    pub fn values(
        &mut self,
        step: usize,
        way: &Way,
        state: &[bool],
        inputs: &[bool],
    ) -> (Vec<(TermId, TermId)>, Vec<bool>) {
        let Steps { gates, values, .. } = self;
        values.clear();
        for (&bit, &value) in self.state.iter().zip(state) {
            values.set(gates, bit, value);
        }
        for (&bit, &value) in self.all[step].inputs.iter().zip(inputs) {
            values.set(gates, bit, value);
        }
        let words = way.words.iter();
        let found = words.map(|(var, word)| {
            let value = match self.terms.sort(self.terms.sort_of(*var)) {
                Sort::BitVec(width) => {
                    let mut number = BigUint::default();
                    for (place, &bit) in word.iter().enumerate() {
                        number.set_bit(place as u64, values.of(gates, bit));
                    }
                    self.terms.bitvec(number, width)
                }
                _ => self.terms.bool(values.of(gates, word[0])),
            };
            (*var, value)
        });
        let found = found.collect();
        let next = way.next.iter().map(|&bit| values.of(gates, bit));
        (found, next.collect())
    }
}

/// Binds the body's variables to the bits of a state.
fn bind_state(
    terms: &TermStore,
    blaster: &mut Blaster,
    state: &[Bit],
    vars: &[TermId],
) -> Result<(), NotBits> {
    let mut place = 0;
    for &var in vars {
        let width = Blaster::width(terms, var)?;
        blaster.bind(var, &state[place..place + width]);
        place += width;
    }
    Ok(())
}

/// Literals of the constraint that hold and imply it; in ascending order.
fn implicant(terms: &TermStore, step: &Step, gates: &Gates, values: &mut Values) -> Vec<TermId> {
    let mut found = Vec::new();
    let mut seen: FxHashSet<(TermId, bool)> = FxHashSet::default();
    // Formulas, and whether they are negated.
    let mut stack = vec![(step.constraint, false)];
    let mut holds = |formula: TermId, negated: bool| {
        let bit = step.words[&formula][0];
        values.of(gates, bit) != negated
    };
    while let Some((formula, negated)) = stack.pop() {
        if !seen.insert((formula, negated)) {
            continue;
        }
        let node = terms.node(formula);
        match (&node.op, negated) {
            (Op::True | Op::False, _) => {}
            (Op::Not, _) => stack.push((node.args[0], !negated)),
            (Op::And, false) | (Op::Or, true) => {
                stack.extend(node.args.iter().map(|&a| (a, negated)));
            }
            (Op::Or, false) | (Op::And, true) => {
                let chosen = node.args.iter().find(|a| holds(**a, negated));
                stack.extend(chosen.map(|&a| (a, negated)));
            }
            (Op::Ite, _) => {
                let (then, otherwise) = (node.args[1], node.args[2]);
                let condition = holds(node.args[0], false);
                stack.push((node.args[0], !condition));
                stack.push((if condition { then } else { otherwise }, negated));
            }
            _ if negated => found.push(terms.not(formula)),
            _ => found.push(formula),
        }
    }
    found.sort_unstable();
    found
}

/// Finds what conjuncts define.
struct Definer<'a> {
    terms: &'a TermStore,
    blaster: Blaster<'a>,
    /// What variables are that nothing defines; new inputs if it is not given.
    words: Option<&'a Words>,
}

impl Definer<'_> {
    /// Makes a variable that is not known an input.
    fn free(&mut self, var: TermId) -> Result<(), NotBits> {
        if self.blaster.known(var).is_some() {
            return Ok(());
        }
        match self.words {
            Some(words) => {
                self.blaster.bind(var, &words[&var]);
                Ok(())
            }
            None => self.blaster.free(var),
        }
    }

    /// Whether all conjuncts hold; binds all their variables.
    fn all(&mut self, parts: Vec<TermId>) -> Result<Bit, NotBits> {
        let mut guards = Vec::new();
        // With the variables that are not known.
        let with_vars = |&part: &TermId| (part, self.terms.free_vars(&[part]));
        let mut parts: Vec<(TermId, Vec<TermId>)> = parts.iter().map(with_vars).collect();
        while !parts.is_empty() {
            let mut left = Vec::with_capacity(parts.len());
            let before = parts.len();
            for (part, mut open) in parts {
                open.retain(|&v| self.blaster.known(v).is_none());
                if open.is_empty() {
                    guards.push(self.blaster.bit(part)?);
                } else if let ([_], Some((var, term))) = (&open[..], self.definition(part)) {
                    let word = self.blaster.word(term)?;
                    self.blaster.bind(var, &word);
                } else {
                    left.push((part, open));
                }
            }
            parts = left;
            if parts.len() < before {
                continue;
            }
            // What defines a variable by others makes these inputs.
            let mut defining = parts.iter();
            let defining =
                defining.find_map(|(part, open)| Some((self.definition(*part)?.0, open)));
            let vars = match defining {
                Some((var, open)) => open.iter().copied().filter(|&v| v != var).collect(),
                None => parts[0].1.clone(),
            };
            for var in vars {
                self.free(var)?;
            }
        }
        Ok(self.blaster.gates.all(&guards))
    }

    /// A variable that is not known, and the term without it that a conjunct equates it with.
    fn definition(&self, part: TermId) -> Option<(TermId, TermId)> {
        let terms = self.terms;
        let is_open = |t: TermId| terms.is_var(t) && self.blaster.known(t).is_none();
        let node = terms.node(part);
        let (var, term) = match &node.op {
            Op::Eq if is_open(node.args[0]) => (node.args[0], node.args[1]),
            Op::Eq if is_open(node.args[1]) => (node.args[1], node.args[0]),
            Op::Not if is_open(node.args[0]) => (node.args[0], TermId::FALSE),
            Op::Var(_) if is_open(part) => (part, TermId::TRUE),
            _ => return None,
        };
        (!terms.free_vars(&[term]).contains(&var)).then_some((var, term))
    }
}
