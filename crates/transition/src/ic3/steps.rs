//! Clauses as guards and functions of bits, and their implicants.
//!
//! A clause `P(x) ∧ φ ⇒ Q(x')` becomes a guard and a function for each bit of `x'`, over the bits
//! of `x` and inputs. A variable that a conjunct of `φ` defines by an equation is replaced by its
//! definition; the others are inputs, constrained by the guard.
//!
//! A [`Branch`] is the same for one implicant of `φ`. It defines more variables, so fewer bits of a
//! state matter.
//!
//! Invariant: a clause leads from a state to another if and only if, for some inputs, the guard
//! holds and the functions have the bits of the other as values; and likewise for one of its
//! branches.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::level::Reached;
use alphorn_bits::{Bit, BitVector, BitVectors, Blaster, Gates, NotBits, Values};
use alphorn_chc::{PredicateId, Reachability, System};
use alphorn_proof::{Stop, incomplete};
use alphorn_term::run::{Budget, Context};
use alphorn_term::{BigUint, Op, Sort, TermId, TermStore};

/// A clause.
pub(super) struct Step {
    /// The clause's position in the system.
    pub clause: usize,
    /// The predicate of the state before; `None` for a fact.
    pub from: Option<PredicateId>,
    /// The predicate of the state after; `None` for a query.
    pub to: Option<PredicateId>,
    /// The condition on the state before and the inputs.
    pub guard: Bit,
    /// The bits of the state after it.
    pub next: Vec<Bit>,
    /// The inputs that the guard and the state after it depend on.
    pub inputs: Vec<Bit>,
    /// All variables of the clause.
    vars: Vec<TermId>,
    /// The variables of the body atom.
    before: Vec<TermId>,
    /// The variables of the head.
    after: Vec<TermId>,
    /// The constraint.
    constraint: TermId,
    /// The bits of the constraint and of all its subterms.
    bits: BitVectors,
}

/// A clause restricted to one implicant of its constraint.
pub(super) struct Branch {
    /// The condition on the state before and the inputs.
    pub guard: Bit,
    /// The bits of the state after it.
    pub next: Vec<Bit>,
    /// The bits of all variables of the clause.
    bits: Vec<(TermId, BitVector)>,
}

/// All clauses that a derivation of `false` may use.
pub(super) struct Steps {
    terms: Rc<TermStore>,
    budget: Budget,
    /// The gates of all clauses.
    pub gates: Gates,
    /// The bits of a state; each predicate uses the first of them.
    pub state: Vec<Bit>,
    /// The steps of the clauses.
    pub all: Vec<Step>,
    /// The branches made so far, by step and literals of the implicant.
    branches: FxHashMap<(usize, Vec<TermId>), Rc<Branch>>,
    values: Values,
}

impl Steps {
    /// Translates the clauses to gates.
    ///
    /// # Errors
    /// Outer: a limit of the run. Inner: operations that bits do not express, or too many gates.
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
            branches: FxHashMap::default(),
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

    /// The reason to stop: a limit of the run, or what bits do not express.
    fn stop(&self, error: &NotBits) -> Stop {
        match self.budget.stop() {
            Some(reason) => Stop::Reason(reason),
            None => incomplete(error.to_string()),
        }
    }

    /// Translates a clause.
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
            bits: None,
        };
        let guard = definer.all(terms.conjuncts(clause.constraint))?;
        let vars = clause.vars(terms);
        for &var in &vars {
            definer.free(var)?;
        }
        // Each formula in the constraint gets a bit.
        definer.blaster.bit(clause.constraint)?;
        let bits = definer.blaster.into_bit_vectors();
        self.all.push(Step {
            clause: index,
            from: clause.body.first().map(|atom| atom.predicate),
            to: clause.head.as_ref().map(|atom| atom.predicate),
            guard,
            next: after.iter().flat_map(|v| bits[v].iter().copied()).collect(),
            inputs: self.gates.inputs_from(first_own).collect(),
            vars,
            before,
            after,
            constraint: clause.constraint,
            bits,
        });
        Ok(())
    }

    /// The indexes of the steps that are queries.
    pub fn queries(&self) -> Vec<usize> {
        let all = self.all.iter().enumerate();
        let queries = all.filter(|(_, step)| step.to.is_none());
        queries.map(|(index, _)| index).collect()
    }

    /// The branch of a clause that a solution satisfies.
    ///
    /// # Errors
    /// A limit of the run, or too many gates.
    pub fn branch(&mut self, reached: &Reached) -> Result<Rc<Branch>, Stop> {
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
        if let Some(branch) = self.branches.get(&key) {
            return Ok(branch.clone());
        }
        let branch = self.make_branch(reached.step, &key.1);
        let branch = Rc::new(branch.map_err(|error| self.stop(&error))?);
        self.branches.insert(key, branch.clone());
        Ok(branch)
    }

    /// Translates a clause with an implicant in place of its constraint.
    fn make_branch(&mut self, step: usize, literals: &[TermId]) -> Result<Branch, NotBits> {
        let terms = &*self.terms;
        let step = &self.all[step];
        let mut blaster = Blaster::new(terms, &mut self.gates, &self.budget);
        bind_state(terms, &mut blaster, &self.state, &step.before)?;
        let mut definer = Definer {
            terms,
            blaster,
            bits: Some(&step.bits),
        };
        let guard = definer.all(literals.to_vec())?;
        for &var in &step.vars {
            definer.free(var)?;
        }
        let bits = definer.blaster.into_bit_vectors();
        let vars = step.vars.iter();
        Ok(Branch {
            guard,
            next: step
                .after
                .iter()
                .flat_map(|v| bits[v].iter().copied())
                .collect(),
            bits: vars.map(|&v| (v, bits[&v].clone())).collect(),
        })
    }

    /// The values of a clause's variables and the state after it, for a branch, a state before it
    /// and inputs.
    pub fn values(
        &mut self,
        step: usize,
        branch: &Branch,
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
        let found = branch.bits.iter().map(|(var, bits)| {
            let value = match self.terms.sort(self.terms.sort_of(*var)) {
                Sort::BitVec(width) => {
                    let mut number = BigUint::default();
                    for (place, &bit) in bits.iter().enumerate() {
                        number.set_bit(place as u64, values.of(gates, bit));
                    }
                    self.terms.bitvec(number, width)
                }
                _ => self.terms.bool(values.of(gates, bits[0])),
            };
            (*var, value)
        });
        let found = found.collect();
        let next = branch.next.iter().map(|&bit| values.of(gates, bit));
        (found, next.collect())
    }
}

/// Binds the variables of a body atom to the bits of a state.
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

/// An implicant of a step's constraint for the given values; in ascending order.
fn implicant(terms: &TermStore, step: &Step, gates: &Gates, values: &mut Values) -> Vec<TermId> {
    let mut found = Vec::new();
    let mut seen: FxHashSet<(TermId, bool)> = FxHashSet::default();
    // Formulas, each with whether it is negated.
    let mut stack = vec![(step.constraint, false)];
    let mut holds = |formula: TermId, negated: bool| {
        let bit = step.bits[&formula][0];
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

/// Translates conjuncts, and finds the variables that they define.
struct Definer<'a> {
    terms: &'a TermStore,
    blaster: Blaster<'a>,
    /// The bits of variables that no conjunct defines; if not given, they are new inputs.
    bits: Option<&'a BitVectors>,
}

impl Definer<'_> {
    /// Gives bits to a variable that no conjunct defines.
    fn free(&mut self, var: TermId) -> Result<(), NotBits> {
        if self.blaster.known(var).is_some() {
            return Ok(());
        }
        match self.bits {
            Some(bits) => {
                self.blaster.bind(var, &bits[&var]);
                Ok(())
            }
            None => self.blaster.free(var),
        }
    }

    /// The bit that all conjuncts hold; binds all their variables.
    fn all(&mut self, parts: Vec<TermId>) -> Result<Bit, NotBits> {
        let mut guards = Vec::new();
        // Each with its variables that have no bits yet.
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
                    let bits = self.blaster.bit_vector(term)?;
                    self.blaster.bind(var, &bits);
                } else {
                    left.push((part, open));
                }
            }
            parts = left;
            if parts.len() < before {
                continue;
            }
            // If a conjunct defines a variable by others, the others become inputs.
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

    /// A variable without bits that a conjunct equates with a term without it, and that term.
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
