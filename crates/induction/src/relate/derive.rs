//! Proofs with facts that lemmas and clauses add.
//!
//! Where the premises of a lemma that concludes a fact follow from what is known, its fact joins the
//! context. A lemma's own conclusion is looked for among the facts at hand, and then, from the goal
//! down, by clauses: the head is the goal, equations fix the clause's variables, and body atoms are facts
//! at hand, or goals themselves.
//!
//! Invariant: a fact joins a context only if Z3 finds that what it needs follows from what is known there.

use rustc_hash::{FxHashMap, FxHashSet};

use super::instances::plausible;
use super::limits::LIMITS;
use super::literal::Column;
use super::prove::{ContextAtom, Prover, Search, Tree, Usable, argument, needed};
use super::statement::solved;
use alphorn_chc::{Clause, PredicateId};
use alphorn_smt::{SatResult, SmtModel, Solver};
use alphorn_term::run::Context;
use alphorn_term::{Op, SortId, TermId, TermStore};
use alphorn_witness::{ClauseStep, Instance};

/// A fact that joined a context, before the node below it.
pub enum Link {
    /// By an instance of a lemma, with instances that show its premises.
    Add(Instance, Vec<Instance>),
    /// By a clause.
    Apply(Application),
}

/// An application of a clause.
#[derive(Clone, Debug)]
pub struct Application {
    pub step: ClauseStep,
    /// The arguments of the head.
    args: Vec<TermId>,
    /// What the clause needs.
    formula: TermId,
}

/// How a clause derives a goal, as far as it is known.
#[derive(Clone)]
struct Matching<'c> {
    clause: &'c Clause,
    /// The clause's variables, and the values of those that are known.
    vars: FxHashSet<TermId>,
    map: FxHashMap<TermId, TermId>,
    conjuncts: Vec<TermId>,
    /// Equations of values with arguments of facts.
    equations: Vec<TermId>,
    /// The facts of body atoms.
    premises: Vec<Option<usize>>,
}

impl Matching<'_> {
    fn is_open(&self, terms: &TermStore, term: TermId) -> bool {
        let free = terms.free_vars(&[term]);
        free.iter().any(|v| self.vars.contains(v))
    }

    /// Finds the values that equations fix.
    fn settle(&mut self, terms: &TermStore) {
        let mut opened: FxHashSet<usize> = FxHashSet::default();
        loop {
            let before = self.map.len() + self.conjuncts.len();
            for at in 0..self.conjuncts.len() {
                let conjunct = terms.substitute(self.conjuncts[at], &self.map);
                if !matches!(terms.op(conjunct), Op::Eq) || !self.is_open(terms, conjunct) {
                    continue;
                }
                let (left, right) = (terms.args(conjunct)[0], terms.args(conjunct)[1]);
                for (own, value) in [(left, right), (right, left)] {
                    if self.is_open(terms, value) {
                        continue;
                    }
                    if self.vars.contains(&own) {
                        self.map.insert(own, value);
                    } else if let Op::Construct(datatype, constructor) = *terms.op(own)
                        && opened.insert(at)
                    {
                        for (field, &part) in (0..).zip(terms.args(own)) {
                            let inside = terms.field(datatype, constructor, field, value);
                            self.conjuncts.push(terms.eq(part, inside));
                        }
                    }
                }
                let free = terms.free_vars(&[conjunct]);
                let open: Vec<TermId> =
                    free.into_iter().filter(|v| self.vars.contains(v)).collect();
                if let [var] = open[..]
                    && !self.map.contains_key(&var)
                    && terms.sort_of(left) == SortId::INT
                    && let Some(value) = solved(terms, conjunct, var)
                {
                    self.map.insert(var, value);
                }
            }
            if self.map.len() + self.conjuncts.len() == before {
                return;
            }
        }
    }

    /// Whether a model may satisfy what is known of the constraint.
    fn may_hold(&self, terms: &TermStore, model: &SmtModel) -> bool {
        self.conjuncts.iter().all(|&conjunct| {
            let conjunct = terms.substitute(conjunct, &self.map);
            self.is_open(terms, conjunct) || model.value(conjunct).ok() != Some(TermId::FALSE)
        })
    }

    /// The body atoms with an argument that is not known, those with most known ones first.
    fn next(&self) -> Vec<usize> {
        let unknown = |at: usize| {
            let args = self.clause.body[at].args.iter();
            args.filter(|arg| !self.map.contains_key(arg)).count()
        };
        let open = (0..self.premises.len()).filter(|&at| self.premises[at].is_none());
        let mut open: Vec<usize> = open.filter(|&at| unknown(at) > 0).collect();
        open.sort_by_key(|&at| unknown(at));
        open
    }
}

impl Prover<'_, '_> {
    /// Proves what is left at a node with further facts; below it the search goes on with them.
    pub(super) fn with_facts(
        &mut self,
        search: &mut Search<'_>,
        extra: usize,
        cx: &Context,
    ) -> Option<Tree> {
        let lengths = search.lengths();
        self.solver.push();
        let mut links = Vec::new();
        self.add_facts(search, &mut links, cx);
        let leaf = match !links.is_empty() && self.close(search) {
            true => Some(Tree::Use(search.instances.clone())),
            false => self.reach_goal(search, &mut links, cx),
        };
        let tree = leaf.or_else(|| self.split(search, extra, cx));
        search.truncate(lengths);
        self.solver.pop();
        let wrap = |inner, link| match link {
            Link::Add(used, uses) => Tree::Add(used, uses, Box::new(inner)),
            Link::Apply(application) => Tree::Apply(application, Box::new(inner)),
        };
        tree.map(|tree| links.into_iter().rev().fold(tree, wrap))
    }

    /// A model of what is known.
    fn some_model(&mut self) -> Option<SmtModel> {
        match self.check() {
            SatResult::Sat => self.solver.model(),
            _ => None,
        }
    }

    /// Adds the conclusions of lemmas whose premises follow.
    fn add_facts(&mut self, search: &mut Search<'_>, links: &mut Vec<Link>, cx: &Context) {
        let terms = self.space.terms();
        let usable = search.usable;
        let all = usable.known.iter().map(|&number| (number, None));
        let group = usable.group.iter().enumerate();
        let all = all.chain(group.map(|(at, &number)| (number, Some(at))));
        let heads: Vec<(usize, Option<usize>)> = all
            .filter(|(n, _)| usable.lemmas[*n].head.is_some())
            .collect();
        if heads.is_empty() {
            return;
        }
        let mut tried: FxHashSet<Instance> = FxHashSet::default();
        for _ in 0..LIMITS.added_rounds {
            let Some(model) = self.some_model() else {
                return;
            };
            let before = links.len();
            let instances = plausible(search, &heads, terms, &model);
            for used in instances {
                let is_enough = tried.len() >= LIMITS.added_tries || cx.stop().is_some();
                if is_enough || links.len() >= LIMITS.added_facts {
                    return;
                }
                if !tried.insert(used.clone()) {
                    continue;
                }
                let lemma = usable.lemmas[used.lemma].clone();
                let Some(head) = &lemma.head else { continue };
                let of = |c: Column| {
                    search.atoms[used.atoms[usize::from(c.slot)]].args[usize::from(c.arg)]
                };
                let args = head.terms(terms, &of);
                let premises = terms.not(lemma.formula(terms, &of));
                if !self.follows(premises) || self.at_hand(search, head.predicate, &args).is_some()
                {
                    continue;
                }
                if usable.group.contains(&used.lemma) {
                    search.used.insert(used.lemma);
                }
                links.push(Link::Add(used, search.instances.clone()));
                self.join(search, head.predicate, &args);
            }
            if links.len() == before {
                return;
            }
        }
    }

    /// A fact that joins a context, with equations for its arguments. It has no path.
    fn joined(
        &mut self,
        predicate: PredicateId,
        args: &[TermId],
        atoms: usize,
    ) -> (ContextAtom, TermId) {
        // Slots have smaller places.
        let mut atom = self.root(predicate, LIMITS.joined + atoms);
        atom.path = vec![usize::MAX];
        let terms = self.space.terms();
        let pairs = atom.args.iter().zip(args);
        let equations: Vec<TermId> = pairs.map(|(&own, &value)| terms.eq(own, value)).collect();
        (atom, terms.and(&equations))
    }

    fn join(&mut self, search: &mut Search<'_>, predicate: PredicateId, args: &[TermId]) {
        let (atom, formula) = self.joined(predicate, args, search.atoms.len());
        self.solver.assert(formula);
        search.formulas.push(formula);
        search.atoms.push(atom);
    }

    /// The position of a fact with these arguments.
    fn at_hand(
        &mut self,
        search: &Search<'_>,
        predicate: PredicateId,
        args: &[TermId],
    ) -> Option<usize> {
        let terms = self.space.terms();
        let model = self.some_model()?;
        (0..search.atoms.len()).rev().find(|&at| {
            let atom = &search.atoms[at];
            if atom.predicate != predicate {
                return false;
            }
            let pairs = atom.args.iter().zip(args);
            let equations: Vec<TermId> = pairs.map(|(&own, &arg)| terms.eq(own, arg)).collect();
            let formula = terms.and(&equations);
            model.value(formula).ok() != Some(TermId::FALSE) && self.follows(formula)
        })
    }

    /// A leaf where the conclusion of the lemma is a fact.
    fn reach_goal(
        &mut self,
        search: &mut Search<'_>,
        links: &mut Vec<Link>,
        cx: &Context,
    ) -> Option<Tree> {
        let lemma = search.usable.lemmas[search.usable.group[search.position]].clone();
        let head = lemma.head.as_ref()?;
        let goal = head.terms(self.space.terms(), &argument(&search.atoms));
        let mut tries = LIMITS.clause_tries;
        let depth = LIMITS.clause_depth;
        let at = self.derive(
            search,
            links,
            (head.predicate, &goal),
            depth,
            &mut tries,
            cx,
        )?;
        Some(Tree::Goal(at, goal, search.instances.clone()))
    }

    /// The position of a fact with these arguments, after clauses are applied if need be. The recursion
    /// is as deep as `depth` says.
    fn derive(
        &mut self,
        search: &mut Search<'_>,
        links: &mut Vec<Link>,
        (predicate, args): (PredicateId, &[TermId]),
        depth: usize,
        tries: &mut usize,
        cx: &Context,
    ) -> Option<usize> {
        if let Some(at) = self.at_hand(search, predicate, args) {
            return Some(at);
        }
        if depth == 0 {
            return None;
        }
        let terms = self.space.terms();
        let system = self.space.system;
        let rules = self.space.rules[predicate.index()].clone();
        for (case, rule) in rules.into_iter().enumerate() {
            let clause = &system.clauses[rule];
            let Some(head) = &clause.head else { continue };
            let mut matching = Matching {
                clause,
                vars: clause.vars(terms).into_iter().collect(),
                map: head
                    .args
                    .iter()
                    .copied()
                    .zip(args.iter().copied())
                    .collect(),
                conjuncts: terms.conjuncts(clause.constraint),
                equations: Vec::new(),
                premises: vec![None; clause.body.len()],
            };
            matching.settle(terms);
            let goal = (predicate, case, args);
            if let Some(at) = self.by_clause(search, links, goal, matching, depth, tries, cx) {
                return Some(at);
            }
        }
        None
    }

    /// Finds facts for the body atoms of a clause; the recursion is as deep as these are many.
    #[allow(clippy::too_many_arguments)]
    fn by_clause(
        &mut self,
        search: &mut Search<'_>,
        links: &mut Vec<Link>,
        goal: (PredicateId, usize, &[TermId]),
        matching: Matching<'_>,
        depth: usize,
        tries: &mut usize,
        cx: &Context,
    ) -> Option<usize> {
        let terms = self.space.terms();
        let model = self.some_model()?;
        if *tries == 0 || cx.stop().is_some() || !matching.may_hold(terms, &model) {
            return None;
        }
        *tries -= 1;
        let open = matching.next();
        if open.is_empty() {
            return self.apply(search, links, goal, matching, depth, tries, cx);
        }
        let places = (0..search.atoms.len()).rev();
        for (next, at) in open
            .iter()
            .flat_map(|&n| places.clone().map(move |at| (n, at)))
        {
            let body = &matching.clause.body[next];
            let atom = search.atoms[at].clone();
            if atom.predicate != body.predicate {
                continue;
            }
            let mut other = matching.clone();
            let mut is_possible = true;
            for (&var, &arg) in body.args.iter().zip(&*atom.args) {
                match other.map.get(&var) {
                    Some(&value) => {
                        let equation = terms.eq(value, arg);
                        is_possible &= model.value(equation).ok() != Some(TermId::FALSE);
                        other.equations.push(equation);
                    }
                    None => {
                        other.map.insert(var, arg);
                    }
                }
            }
            if !is_possible {
                continue;
            }
            other.premises[next] = Some(at);
            other.settle(terms);
            if let Some(at) = self.by_clause(search, links, goal, other, depth, tries, cx) {
                return Some(at);
            }
        }
        None
    }

    /// Applies a clause of which all arguments are known.
    #[allow(clippy::too_many_arguments)]
    fn apply(
        &mut self,
        search: &mut Search<'_>,
        links: &mut Vec<Link>,
        (predicate, case, args): (PredicateId, usize, &[TermId]),
        mut matching: Matching<'_>,
        depth: usize,
        tries: &mut usize,
        cx: &Context,
    ) -> Option<usize> {
        let terms = self.space.terms();
        for &var in &matching.vars {
            // One without default stays, and has no name below.
            let value = terms.default_value(terms.sort_of(var));
            let entry = matching.map.entry(var);
            entry.or_insert(value.unwrap_or(var));
        }
        let conjuncts = matching.conjuncts.iter();
        let mut known: Vec<TermId> = conjuncts
            .map(|&conjunct| terms.substitute(conjunct, &matching.map))
            .collect();
        known.extend(&matching.equations);
        let formula = terms.and(&known);
        if !self.follows(formula) {
            return None;
        }
        let mut premises = Vec::with_capacity(matching.premises.len());
        for (premise, body) in matching.premises.iter().zip(&matching.clause.body) {
            premises.push(match premise {
                Some(at) => *at,
                None => {
                    let args: Vec<TermId> = body.args.iter().map(|arg| matching.map[arg]).collect();
                    let goal = (body.predicate, &args[..]);
                    self.derive(search, links, goal, depth - 1, tries, cx)?
                }
            });
        }
        let values: Vec<(TermId, TermId)> = matching
            .map
            .iter()
            .map(|(&var, &value)| (var, value))
            .collect();
        let roots: Vec<TermId> = values.iter().map(|pair| pair.1).collect();
        let mut names = Vec::new();
        for var in terms.free_vars(&roots) {
            let place = search.atoms.iter().enumerate().find_map(|(at, atom)| {
                let arg = atom.args.iter().position(|&arg| arg == var)?;
                Some((var, at, arg))
            });
            names.push(place?);
        }
        // Facts that were added for the body have equal arguments, which is known by now.
        let mut equations = vec![formula];
        for (&at, body) in premises.iter().zip(&matching.clause.body) {
            let pairs = body.args.iter().zip(&*search.atoms[at].args);
            equations.extend(pairs.map(|(arg, &own)| terms.eq(matching.map[arg], own)));
        }
        let formula = terms.and(&equations);
        links.push(Link::Apply(Application {
            step: ClauseStep {
                predicate,
                clause: case,
                premises,
                names,
                values,
                uses: search.instances.clone(),
            },
            args: args.to_vec(),
            formula,
        }));
        self.join(search, predicate, args);
        Some(search.atoms.len() - 1)
    }

    /// A node with a fact that joins the context, without what it does not need.
    pub(super) fn minimal_facts(
        &mut self,
        usable: Usable<'_>,
        tree: &Tree,
        atoms: &[ContextAtom],
        solver: &mut Solver,
    ) -> Tree {
        let terms = self.space.terms();
        let core = |prover: &Self, uses: &[Instance], formula: TermId, solver: &mut Solver| {
            solver.push();
            solver.assert(terms.not(formula));
            let uses = needed(prover.space, usable.lemmas, uses, atoms, solver);
            solver.pop();
            uses
        };
        let (predicate, args, inner) = match tree {
            Tree::Goal(at, goal, uses) => {
                let pairs = atoms[*at].args.iter().zip(goal);
                let equations: Vec<TermId> = pairs.map(|(&a, &b)| terms.eq(a, b)).collect();
                let uses = core(self, uses, terms.and(&equations), solver);
                return Tree::Goal(*at, goal.clone(), uses);
            }
            Tree::Add(used, _, inner) => {
                let lemma = &usable.lemmas[used.lemma];
                let of =
                    |c: Column| atoms[used.atoms[usize::from(c.slot)]].args[usize::from(c.arg)];
                let Some(head) = &lemma.head else {
                    return tree.clone();
                };
                (head.predicate, head.terms(terms, &of), inner)
            }
            Tree::Apply(application, inner) => {
                (application.step.predicate, application.args.clone(), inner)
            }
            other => return other.clone(),
        };
        let (atom, mut formula) = self.joined(predicate, &args, atoms.len());
        if let Tree::Apply(application, _) = tree {
            // In the proof the fact has the arguments of the clause's head, which are `args` if the clause
            // applies; so what shows that is needed below, too.
            formula = terms.or(&[terms.not(application.formula), formula]);
        }
        let mut more = atoms.to_vec();
        more.push(atom);
        solver.push();
        solver.assert(formula);
        let inner = self.minimal(usable, inner, &more, solver);
        solver.pop();
        if !inner.mentions(atoms.len()) {
            return inner.without(atoms.len());
        }
        match tree {
            Tree::Add(used, uses, _) => {
                let lemma = &usable.lemmas[used.lemma];
                let of =
                    |c: Column| atoms[used.atoms[usize::from(c.slot)]].args[usize::from(c.arg)];
                let premises = terms.not(lemma.formula(terms, &of));
                let uses = core(self, uses, premises, solver);
                Tree::Add(used.clone(), uses, Box::new(inner))
            }
            Tree::Apply(application, _) => {
                let mut application = application.clone();
                let uses = &application.step.uses;
                application.step.uses = core(self, uses, application.formula, solver);
                Tree::Apply(application, Box::new(inner))
            }
            _ => inner,
        }
    }
}

impl Tree {
    /// Whether something speaks of the atom at this position.
    fn mentions(&self, at: usize) -> bool {
        let of = |uses: &[Instance]| uses.iter().any(|used| used.atoms.contains(&at));
        match self {
            Tree::Use(uses) => of(uses),
            Tree::Goal(found, _, uses) => *found == at || of(uses),
            Tree::Split(atom, cases) => *atom == at || cases.iter().any(|case| case.mentions(at)),
            Tree::Ghost(fact, inner) => {
                let mut parts = fact.inputs.iter().flat_map(|sum| &sum.parts);
                parts.any(|part| part.1 == at) || of(&fact.uses) || inner.mentions(at)
            }
            Tree::Add(used, uses, inner) => {
                used.atoms.contains(&at) || of(uses) || inner.mentions(at)
            }
            Tree::Apply(application, inner) => {
                let step = &application.step;
                step.premises.contains(&at)
                    || step.names.iter().any(|name| name.1 == at)
                    || of(&step.uses)
                    || inner.mentions(at)
            }
        }
    }

    /// The tree in a context without the atom at this position, of which nothing speaks.
    fn without(mut self, at: usize) -> Tree {
        self.renumber(&|other| other - usize::from(other > at));
        self
    }

    /// Changes the positions of atoms; the recursion is as deep as the tree.
    fn renumber(&mut self, to: &impl Fn(usize) -> usize) {
        let all = |atoms: &mut Vec<usize>| atoms.iter_mut().for_each(|at| *at = to(*at));
        let of = |uses: &mut Vec<Instance>| uses.iter_mut().for_each(|used| all(&mut used.atoms));
        match self {
            Tree::Use(uses) => of(uses),
            Tree::Goal(found, _, uses) => {
                *found = to(*found);
                of(uses);
            }
            Tree::Split(atom, cases) => {
                *atom = to(*atom);
                cases.iter_mut().for_each(|case| case.renumber(to));
            }
            Tree::Ghost(fact, inner) => {
                let parts = fact.inputs.iter_mut().flat_map(|sum| &mut sum.parts);
                parts.for_each(|part| part.1 = to(part.1));
                of(&mut fact.uses);
                inner.renumber(to);
            }
            Tree::Add(used, uses, inner) => {
                all(&mut used.atoms);
                of(uses);
                inner.renumber(to);
            }
            Tree::Apply(application, inner) => {
                let step = &mut application.step;
                all(&mut step.premises);
                step.names.iter_mut().for_each(|name| name.1 = to(name.1));
                of(&mut step.uses);
                inner.renumber(to);
            }
        }
    }
}
