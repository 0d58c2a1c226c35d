"""BenchExec's tool-info module for alphorn: how to run it, and what its output means.

CHC-COMP's property is that the clauses are satisfiable: `sat` is true, `unsat` is false.
"""

import benchexec.result as result
import benchexec.tools.template

MIB = 1 << 20
# The competition limits CPU time, which jobs share. BENCHMARKS.md has what one and two solve by it.
JOBS = 2
# What is left of the limits for the last steps of a run, so that it ends by itself.
TIME_SHARE = 0.99
MEMORY_SHARE = 0.95

# What alphorn says on standard error beside `unknown`, and what BenchExec calls that.
REASONS = {
    "alphorn: timeout": result.RESULT_TIMEOUT,
    "alphorn: memout": "OUT OF MEMORY",
    "alphorn: interrupted": "KILLED",
}


class Tool(benchexec.tools.template.BaseTool2):
    """Solver of constrained Horn clauses whose answers are checked before they are printed"""

    # Found next to the executable, by its run path.
    REQUIRED_PATHS = ["libz3.so*"]

    def executable(self, tool_locator):
        """Path of the program."""
        return tool_locator.find_executable("alphorn")

    def name(self):
        """What tables call the tool."""
        return "alphorn"

    def version(self, executable):
        """The version as `--version` prints it, without the name of the program."""
        return self._version_from_tool(executable, line_prefix="alphorn")

    def cmdline(self, executable, options, task, rlimits):
        """The words to run, for options of the benchmark definition and limits of a run.

        `rlimits` has `walltime` and `cputime` in seconds, `memory` in bytes and `cpu_cores`; each may
        be None.
        """
        words = [executable, *options]
        jobs = min(JOBS, rlimits.cpu_cores or JOBS)
        if "--jobs" in options:
            jobs = int(options[options.index("--jobs") + 1])
        else:
            words += ["--jobs", str(jobs)]
        # No run takes more CPU time than its jobs all have together.
        cpu_time = rlimits.cputime and rlimits.cputime / jobs
        times = [seconds for seconds in (rlimits.walltime, cpu_time) if seconds]
        if times and "--timeout" not in options:
            words += ["--timeout", f"{min(times) * TIME_SHARE:g}"]
        if rlimits.memory and "--memory" not in options:
            words += ["--memory", str(int(rlimits.memory * MEMORY_SHARE / MIB))]
        return [*words, task.single_input_file]

    def determine_result(self, run):
        """BenchExec's result for the output of a run.

        The first line that is a verdict counts. `unknown` is given with its reason where that is a
        limit or a defect. Without a verdict the result is an error, to which BenchExec adds the
        signal or status.
        """
        unknown = False
        reason = result.RESULT_UNKNOWN
        for line in run.output:
            line = line.strip()
            if line == "sat" and not unknown:
                return result.RESULT_TRUE_PROP
            if line == "unsat" and not unknown:
                return result.RESULT_FALSE_PROP
            if line.startswith("(error ") and not unknown:
                return f"{result.RESULT_ERROR} (input)"
            if line == "unknown":
                unknown = True
            elif line in REASONS:
                reason = REASONS[line]
            elif line.startswith("alphorn: defect"):
                reason = f"{result.RESULT_ERROR} (defect)"
        return reason if unknown else result.RESULT_ERROR
