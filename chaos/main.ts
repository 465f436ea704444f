import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeProgram } from "../test/bench/process.ts";
import { controls, goodLaunch } from "./controls/control.ts";
import { faults, sizeFor, whyNot } from "./faults/catalogue.ts";
import { faultsOf, type Options, parseOptions, UsageError, usage } from "./options.ts";
import { replayCommand, report, summary } from "./report/report.ts";
import { obstacles } from "./requirements.ts";
import { removeDisks, run } from "./run.ts";
import { insideMark, runInside, settleIn } from "./sandbox.ts";

const impossible = 3;

/**
 * Runs real processes with real faults: see README.md. Exits with 0 if it finds nothing, with 1 if it finds something,
 * and with 3 if it cannot run here.
 */
const print = (text: string) => process.stdout.write(`${text}\n`);

process.exit(await main(Bun.argv.slice(2)));

async function main(args: readonly string[]): Promise<number> {
  const isInside = args[0] === insideMark;
  try {
    const options = parseOptions(isInside ? args.slice(1) : args);
    if (options === undefined) return list();
    if (isInside) return await inside(options);
    const found = obstacles(options);
    for (const one of found) print(`no run is possible here: ${one}`);
    return found.length > 0 ? impossible : await runInside(import.meta.path, args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    print(`${error.message}\n\n${usage}`);
    return 1;
  }
}

function list(): number {
  for (const fault of faults) {
    const why = whyNot(fault, sizeFor(fault));
    print(`${fault.name.padEnd(20)} ${fault.does}${why === undefined ? "" : ` – not here: ${why}`}`);
  }
  print("\nDeliberately broken servers, for --control:");
  for (const { name, does } of controls) print(`${name.padEnd(20)} ${does}`);
  return 0;
}

async function inside(options: Options): Promise<number> {
  const { directory } = settleIn();
  const built = join(directory, "program");
  mkdirSync(built);
  const program = await makeProgram(built);
  const reports = resolve(options.reportDirectory);
  mkdirSync(reports, { recursive: true });
  let bad = 0;
  for (let number = 0; number < options.runs; number++) {
    if (!(await oneRun(options, options.seed + number, program, directory, reports))) bad++;
    if (bad > 0 && options.control !== undefined) {
      print(`the deliberate error was found in run ${number + 1}`);
      return 0;
    }
  }
  print(`${options.runs - bad} of ${options.runs} runs found nothing; reports are in ${reports}`);
  return bad === 0 && options.control === undefined ? 0 : 1;
}

/** Returns false after a finding. */
async function oneRun(
  options: Options,
  seed: number,
  program: string,
  scratch: string,
  reports: string,
): Promise<boolean> {
  const directory = join(scratch, `run-${seed}`);
  const { members, servingProcesses, etcdMembers, seconds, control } = options;
  const runOptions = {
    seed,
    members,
    servingProcesses,
    etcdMembers,
    seconds,
    faults: faultsOf(options, seed),
    launch: (control?.launch ?? goodLaunch)(program),
    control: control?.name,
    directory,
  };
  print(replayCommand(runOptions));
  let isGood = false;
  try {
    const result = await run(runOptions);
    isGood = result.violations.length === 0;
    writeFileSync(join(reports, `${seed}.md`), report(result));
    if (!isGood) writeFileSync(join(reports, `${seed}.json`), JSON.stringify(result.history));
    print(summary(result));
  } catch (error) {
    print(`seed ${seed}: the run was aborted: ${(error as Error).stack ?? String(error)}`);
  }
  removeDisks(runOptions);
  if (!isGood) cpSync(directory, join(reports, `${seed}-logs`), { recursive: true });
  rmSync(directory, { recursive: true, force: true });
  return isGood;
}
