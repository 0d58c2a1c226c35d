//! Reads arrays through the definitions of a clause, down to arrays that nothing defines.
//!
//! Invariant: the result for a term equals the term in every assignment that satisfies the clause's
//! constraint and in which the term for each leaf equals the element read there.

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::view::View;
use alphorn_term::{Op, TermId, TermStore};

/// Where an array is read: an index, then an index into the element, and so on; all resolved.
pub type Path = Vec<TermId>;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct PathId(u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Job {
    Plain(TermId),
    Read(TermId, PathId),
}

/// Simplifies reads of arrays in one clause.
pub struct Reader<'a> {
    terms: &'a TermStore,
    view: &'a View,
    /// Array variables that are not replaced.
    whole: &'a FxHashSet<TermId>,
    paths: Vec<Path>,
    numbers: FxHashMap<Path, PathId>,
    done: FxHashMap<Job, TermId>,
    /// The reads of variables without definition, in the order in which they were found.
    pub leaves: Vec<(TermId, Path)>,
    /// Array variables that occur other than in a read.
    pub met: FxHashSet<TermId>,
    /// The number of steps that may still be done.
    pub fuel: usize,
}

/// The fuel did not suffice.
#[derive(Debug)]
pub struct Exhausted;

impl<'a> Reader<'a> {
    /// A reader for the clause of `view`: keeps the arrays `whole`, does at most `fuel` steps.
    pub fn new(
        terms: &'a TermStore,
        view: &'a View,
        whole: &'a FxHashSet<TermId>,
        fuel: usize,
    ) -> Self {
        Reader {
            terms,
            view,
            whole,
            paths: Vec::new(),
            numbers: FxHashMap::default(),
            done: FxHashMap::default(),
            leaves: Vec::new(),
            met: FxHashSet::default(),
            fuel,
        }
    }

    /// The term with all its reads of arrays simplified. `leaf` gives the term for an element of a
    /// variable.
    ///
    /// # Errors
    /// The fuel does not suffice.
    pub fn plain(
        &mut self,
        term: TermId,
        leaf: &mut impl FnMut(TermId, &Path) -> TermId,
    ) -> Result<TermId, Exhausted> {
        self.run(Job::Plain(term), leaf)
    }

    /// The element of an array at a path of index terms.
    ///
    /// # Errors
    /// The fuel does not suffice.
    pub fn read(
        &mut self,
        array: TermId,
        path: &[TermId],
        leaf: &mut impl FnMut(TermId, &Path) -> TermId,
    ) -> Result<TermId, Exhausted> {
        let path = path.iter().map(|&i| self.view.resolve(self.terms, i));
        let path = self.number(path.collect());
        self.run(Job::Read(array, path), leaf)
    }

    fn number(&mut self, path: Path) -> PathId {
        if let Some(&id) = self.numbers.get(&path) {
            return id;
        }
        let id = PathId(self.paths.len() as u32);
        self.paths.push(path.clone());
        self.numbers.insert(path, id);
        id
    }

    fn run(
        &mut self,
        root: Job,
        leaf: &mut impl FnMut(TermId, &Path) -> TermId,
    ) -> Result<TermId, Exhausted> {
        let mut stack = vec![root];
        while let Some(&job) = stack.last() {
            if self.done.contains_key(&job) {
                stack.pop();
                continue;
            }
            if self.fuel == 0 {
                return Err(Exhausted);
            }
            self.fuel -= 1;
            let result = match job {
                Job::Plain(term) => self.step_plain(term, &mut stack),
                Job::Read(array, path) => self.step_read(array, path, &mut stack, leaf),
            };
            if let Some(result) = result {
                self.done.insert(job, result);
                stack.pop();
            }
        }
        Ok(self.done[&root])
    }

    /// The result for a term; `None` if jobs have been added that must be done before.
    fn step_plain(&mut self, term: TermId, stack: &mut Vec<Job>) -> Option<TermId> {
        let terms = self.terms;
        let node = terms.node(term);
        if node.is_ground {
            return Some(term);
        }
        if node.has_quantifier {
            for var in terms.free_vars(&[term]) {
                if terms.is_array(var) {
                    self.met.insert(var);
                }
            }
            return Some(term);
        }
        match node.op {
            Op::Var(_) => {
                if terms.is_array(term) {
                    self.met.insert(term);
                }
                Some(term)
            }
            Op::Select => {
                let index = self.ask(Job::Plain(node.args[1]), stack)?;
                let path = vec![self.view.resolve(terms, index)];
                let path = self.number(path);
                self.ask(Job::Read(node.args[0], path), stack)
            }
            _ => {
                let waiting = stack.len();
                for &arg in node.args.iter().rev() {
                    self.ask(Job::Plain(arg), stack);
                }
                if stack.len() > waiting {
                    return None;
                }
                let args: Vec<TermId> = node
                    .args
                    .iter()
                    .map(|&a| self.done[&Job::Plain(a)])
                    .collect();
                if *args == *node.args {
                    return Some(term);
                }
                Some(terms.rebuild(&node.op, &args, node.sort))
            }
        }
    }

    /// The result of a job; `None` if it has been added to the stack.
    fn ask(&self, job: Job, stack: &mut Vec<Job>) -> Option<TermId> {
        let known = self.done.get(&job).copied();
        if known.is_none() {
            stack.push(job);
        }
        known
    }

    fn step_read(
        &mut self,
        array: TermId,
        path: PathId,
        stack: &mut Vec<Job>,
        leaf: &mut impl FnMut(TermId, &Path) -> TermId,
    ) -> Option<TermId> {
        let terms = self.terms;
        let node = terms.node(array);
        match node.op {
            Op::Var(_) if self.whole.contains(&array) => Some(self.select(array, path)),
            Op::Var(_) => match self.view.defined.get(&array) {
                Some(&at) => {
                    let term = self.view.definitions[at].term;
                    self.ask(Job::Read(term, path), stack)
                }
                None if self.choice(path).is_some() => self.by_cases(array, path, stack),
                None => {
                    let path = &self.paths[path.0 as usize];
                    self.leaves.push((array, path.clone()));
                    Some(leaf(array, path))
                }
            },
            Op::Store => {
                let index = self.ask(Job::Plain(node.args[1]), stack)?;
                let index = self.view.resolve(terms, index);
                let first = self.paths[path.0 as usize][0];
                let same = self.view.equal(terms, index, first);
                if !terms.is_value(same) && self.choice(path).is_some() {
                    return self.by_cases(array, path, stack);
                }
                let here = match same {
                    TermId::FALSE => None,
                    _ => Some(self.element(node.args[2], path, stack)?),
                };
                let below = match same {
                    TermId::TRUE => None,
                    _ => Some(self.ask(Job::Read(node.args[0], path), stack)?),
                };
                match (here, below) {
                    (Some(here), Some(below)) => Some(terms.ite(same, here, below)),
                    (here, below) => here.or(below),
                }
            }
            Op::Ite => {
                let condition = self.ask(Job::Plain(node.args[0]), stack)?;
                let then = self.ask(Job::Read(node.args[1], path), stack)?;
                let other = self.ask(Job::Read(node.args[2], path), stack)?;
                Some(terms.ite(condition, then, other))
            }
            Op::ConstArray => self.element(node.args[0], path, stack),
            Op::Select if !node.is_ground => {
                let index = self.ask(Job::Plain(node.args[1]), stack)?;
                let mut longer = vec![self.view.resolve(terms, index)];
                longer.extend_from_slice(&self.paths[path.0 as usize]);
                let longer = self.number(longer);
                self.ask(Job::Read(node.args[0], longer), stack)
            }
            _ => {
                let array = self.ask(Job::Plain(array), stack)?;
                Some(self.select(array, path))
            }
        }
    }

    /// An `ite` within one of a path's indexes, with the position of the index.
    fn choice(&self, path: PathId) -> Option<(usize, TermId)> {
        let path = &self.paths[path.0 as usize];
        let found = |&index: &TermId| choice(self.terms, index);
        path.iter()
            .enumerate()
            .find_map(|(at, index)| Some((at, found(index)?)))
    }

    /// The element at either of the paths that an `ite` in an index allows.
    fn by_cases(&mut self, array: TermId, path: PathId, stack: &mut Vec<Job>) -> Option<TermId> {
        let terms = self.terms;
        let (at, ite) = self
            .choice(path)
            .expect("the caller has checked that there is a choice");
        let node = terms.node(ite);
        let mut branches = [TermId::TRUE; 2];
        let mut missing = false;
        for (branch, &term) in branches.iter_mut().zip(&node.args[1..]) {
            let mut path = self.paths[path.0 as usize].clone();
            let map = std::iter::once((ite, term)).collect();
            path[at] = terms.substitute(path[at], &map);
            let path = self.number(path);
            match self.ask(Job::Read(array, path), stack) {
                Some(element) => *branch = element,
                None => missing = true,
            }
        }
        (!missing).then(|| terms.ite(node.args[0], branches[0], branches[1]))
    }

    /// The result of the rest of a path whose first index selects this element.
    fn element(&mut self, element: TermId, path: PathId, stack: &mut Vec<Job>) -> Option<TermId> {
        let path = &self.paths[path.0 as usize];
        if path.len() == 1 {
            return self.ask(Job::Plain(element), stack);
        }
        let rest = path[1..].to_vec();
        let rest = self.number(rest);
        self.ask(Job::Read(element, rest), stack)
    }

    fn select(&self, array: TermId, path: PathId) -> TermId {
        select(self.terms, array, &self.paths[path.0 as usize])
    }
}

/// An `ite` within an index, if the index is small.
fn choice(terms: &TermStore, index: TermId) -> Option<TermId> {
    if terms.is_var(index) || terms.is_value(index) {
        return None;
    }
    let mut seen = FxHashSet::default();
    let mut stack = vec![index];
    while let Some(t) = stack.pop() {
        if seen.len() > LIMITS.max_choice_nodes || !seen.insert(t) {
            continue;
        }
        let node = terms.node(t);
        if node.op == Op::Ite {
            return Some(t);
        }
        stack.extend_from_slice(&node.args);
    }
    None
}

/// `array[i][j]…`
pub(super) fn select(terms: &TermStore, array: TermId, path: &[TermId]) -> TermId {
    path.iter().fold(array, |a, &i| terms.select(a, i))
}
