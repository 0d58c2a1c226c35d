// Solidity's compiler from npm, with solvers from PATH.
//
// Reads a standard JSON input, writes the standard JSON output. Imports are looked up among the
// packages that lie beside the compiler; ALPHORN_NPM is their folder (node_modules).
//
// The compiler that npm has is WebAssembly, with Z3 linked into it, and knows no Eldarica; compiled
// for Linux, solc runs `z3` and `eld` from PATH instead. Everything but the call is the same: the
// query, what is asked after it, and the readers of models and proofs. So the call is what is
// replaced here:
//
// - `z3`: the compiler calls Z3's function for a text (Z3_eval_smtlib2_string) by way of one of
//   its imports, because the function may throw. That import is wrapped: a call whose text is a
//   query runs `z3` with the command line of solc for Linux, and gives back what it printed.
// - `smtlib2`: the callback that npm's solc has for other solvers. It runs `eld` as solc for Linux
//   does; solc has one reader for both.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
'use strict';

const { spawnSync } = require('child_process');
const fs = require('fs');
const path = require('path');

const modules = process.env.ALPHORN_NPM;
const input = JSON.parse(fs.readFileSync(0, 'utf8'));
const checker = input.settings.modelChecker;
// Limits are for the solvers only: with one, the linked Z3 would want a thread, which it cannot have.
const timeout = checker.timeout;
delete checker.timeout;
const withModel = Boolean(checker.invariants);

/** What the command on PATH prints for a query. */
function run(command, words, query) {
  const done = spawnSync(command, words, { input: query, encoding: 'utf8', maxBuffer: 1 << 30 });
  if (done.error) throw done.error;
  process.stderr.write(done.stderr);
  return done.stdout;
}

/** The command line of solc for Linux. The second query is the one for the proof. */
function z3(query) {
  const words = ['-in', '-smt2'];
  if (withModel) words.push('-model');
  words.push(timeout ? `-t:${timeout}` : 'rlimit=2000000');
  words.push('rewriter.pull_cheap_ite=true', 'fp.spacer.q3.use_qgen=true');
  words.push('fp.spacer.mbqi=false', 'fp.spacer.ground_pobs=false');
  const simplify = !query.startsWith('(set-option :produce-proofs true)');
  for (const name of ['slice', 'inline_linear', 'inline_eager']) {
    words.push(`fp.xform.${name}=${simplify}`);
  }
  return run('z3', words, query);
}

function eld(query) {
  const words = ['-hsmt', '-in'];
  if (timeout) words.push(`-t:${Math.max(1, Math.floor(timeout / 1000))}`);
  if (withModel) words.push('-ssol');
  return run('eld', words, query);
}

/** Puts `solve` in the place of the linked Z3; to be called before the compiler is loaded. */
function replaceLinkedZ3(solve) {
  const Instance = WebAssembly.Instance;
  let memory;
  // All calls that may throw have the function's number as their first argument.
  let linked;

  const isQuery = (address) => {
    if (!memory || address < 1024 || address + 160 > memory.buffer.byteLength) return false;
    const start = Buffer.from(memory.buffer, address, 160).toString('latin1');
    return /^(\(set-option :[a-z-]+ \w+\)\s*)*\(set-logic \w+\)\s/.test(start);
  };
  const textAt = (address) => {
    const bytes = new Uint8Array(memory.buffer);
    return Buffer.from(bytes.subarray(address, bytes.indexOf(0, address))).toString('utf8');
  };
  const wrap = (original) => (callee, context, text) => {
    if (!isQuery(text) || (linked !== undefined && callee !== linked)) {
      return original(callee, context, text);
    }
    // Only that function is ever given a whole query, and it would hand it on.
    linked = callee;
    const answer = Buffer.from(`${solve(textAt(text))}\0`, 'utf8');
    const address = soljson._solidity_alloc(answer.length);
    new Uint8Array(memory.buffer).set(answer, address);
    return address;
  };

  WebAssembly.Instance = function (module, imports) {
    // Callbacks get small modules of their own later.
    if (memory) return new Instance(module, imports);
    for (const group of Object.values(imports)) {
      for (const [name, value] of Object.entries(group)) {
        if (typeof value === 'function' && value.length === 3) group[name] = wrap(value);
      }
    }
    const instance = new Instance(module, imports);
    memory = Object.values(instance.exports).find((value) => value instanceof WebAssembly.Memory);
    return instance;
  };
  WebAssembly.Instance.prototype = Instance.prototype;
}

if (checker.solvers.includes('z3')) replaceLinkedZ3(z3);
const soljson = require(path.join(modules, 'solc/soljson.js'));
const solc = require(path.join(modules, 'solc/wrapper'))(soljson);

const output = solc.compile(JSON.stringify(input), {
  import: (name) => {
    try {
      return { contents: fs.readFileSync(path.join(modules, name), 'utf8') };
    } catch (error) {
      return { error: String(error) };
    }
  },
  smtSolver: (query) => {
    try {
      return { contents: eld(query) };
    } catch (error) {
      return { error: String(error) };
    }
  },
});
process.stdout.write(output);
