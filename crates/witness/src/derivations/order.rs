//! The order of tuples of derivations.
//!
//! # Invariant
//! The result depends on the paths alone, and is `Less` only if the multiset is smaller whatever the
//! derivations are.

use std::cmp::Ordering;

/// Compares the derivations at `paths` with those of the slots `measured`, as multisets under the
/// order of sub-derivations: `Less` if they are smaller, `Equal` if they are the same, `None` if
/// neither is known.
pub fn compare_derivations(paths: &[&[usize]], measured: &[usize]) -> Option<Ordering> {
    let mut missing: Vec<usize> = measured.to_vec();
    for path in paths {
        if let [slot] = path {
            // A slot that is not measured, or one that is there twice, is not smaller.
            let at = missing.iter().position(|m| m == slot)?;
            missing.swap_remove(at);
        }
    }
    let mut below = paths.iter().filter(|path| path.len() > 1);
    if missing.is_empty() {
        return (paths.len() == measured.len()).then_some(Ordering::Equal);
    }
    below
        .all(|path| missing.contains(&path[0]))
        .then_some(Ordering::Less)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multisets_of_paths() {
        let (less, equal) = (Some(Ordering::Less), Some(Ordering::Equal));
        let compare = |paths: &[&[usize]]| compare_derivations(paths, &[0, 1]);
        assert_eq!(compare(&[&[0], &[1]]), equal);
        assert_eq!(compare(&[&[1], &[0]]), equal);
        assert_eq!(compare(&[&[0, 0], &[1]]), less);
        assert_eq!(compare(&[&[0], &[1, 2]]), less);
        assert_eq!(compare(&[&[0, 0], &[1, 0]]), less);
        assert_eq!(compare(&[&[0, 0], &[0, 1], &[0, 0, 3]]), less);
        assert_eq!(compare(&[&[0, 0], &[0, 1], &[1]]), less);
        assert_eq!(compare(&[&[0, 0], &[0]]), None);
        assert_eq!(compare(&[&[1, 0], &[0, 0], &[0]]), None);
        assert_eq!(compare(&[&[0], &[0]]), None);
        assert_eq!(compare(&[&[0], &[1], &[1, 0]]), None);
        assert_eq!(compare(&[&[0]]), less);
        assert_eq!(compare(&[]), less);
        assert_eq!(compare(&[&[2], &[0]]), None);
        assert_eq!(compare(&[&[2, 0]]), None);
    }

    #[test]
    fn only_measured_slots_count() {
        assert_eq!(compare_derivations(&[&[1, 0]], &[1]), Some(Ordering::Less));
        assert_eq!(compare_derivations(&[&[0, 0]], &[1]), None);
        assert_eq!(compare_derivations(&[&[0]], &[1]), None);
        assert_eq!(compare_derivations(&[], &[]), Some(Ordering::Equal));
        assert_eq!(compare_derivations(&[&[0, 0]], &[]), None);
    }
}
