import { parseArgs } from "node:util";
import { SeededRandom } from "../raft/testing/simulator/seeded-random.ts";
import type { ClusterSize } from "./cluster/cluster-size.ts";
import { type Control, controls } from "./controls/control.ts";
import { faults as allFaults, faultNamed, whyNot } from "./faults/catalogue.ts";
import type { Fault } from "./faults/fault.ts";

export interface Options extends ClusterSize {
  readonly seed: number;
  readonly runs: number;
  readonly seconds: number;
  /** Faults; undefined if every run chooses some by its seed. */
  readonly faults: readonly Fault[] | undefined;
  readonly reportDirectory: string;
  /** The server's deliberate error, which must be found. */
  readonly control: Control | undefined;
}

const membersMax = 7;
const servingProcessesMax = 4;
const etcdMembersMax = 5;
/** Number of fault classes that a run chooses for itself. */
const picked = 4;
const shortRuns = 6;
const shortSeconds = 20;

export const usage = `bun chaos/main.ts [flags]
  --seed N          seed of the first run; each further run adds 1 (default random)
  --runs N          number of runs (default 1)
  --time S          seconds of faults in each run (default 30)
  --members N       number of members (default 3)
  --serving-processes N
                    further processes of each member that serve the API (default 0)
  --etcd-members N  keep the objects in an etcd of so many members (default 0: in a store of our own)
  --faults a,b+c    classes to choose from; b+c at the same time (default ${picked}, chosen by the seed)
  --short           ${shortRuns} runs of ${shortSeconds} s
  --control NAME    run a deliberately broken server; exits with 0 as soon as a run finds the error
  --report DIR      directory for reports, and for the history and logs of a run that found something (default .chaos)
  --list            list the classes, and those that cannot run here
`;

/** An invalid command line. The message is for people. */
export class UsageError extends Error {}

/** Parses the options. Returns undefined if only the list is requested. @throws UsageError */
export function parseOptions(args: readonly string[]): Options | undefined {
  const values = parse(args);
  if (values.list) return undefined;
  const members = whole("members", values.members, 1, membersMax);
  const servingProcesses = whole("serving-processes", values["serving-processes"], 0, servingProcessesMax);
  const etcdMembers = whole("etcd-members", values["etcd-members"], 0, etcdMembersMax);
  if (etcdMembers > 0 && servingProcesses > 0) {
    throw new UsageError("--serving-processes: servers on etcd have none");
  }
  const size = { members, servingProcesses, etcdMembers };
  const control = values.control === undefined ? undefined : namedControl(values.control);
  if (control !== undefined && control.isOnEtcd !== etcdMembers > 0) {
    throw new UsageError(
      `--control: ${control.name} needs ${control.isOnEtcd ? "--etcd-members" : "a store of our own"}`,
    );
  }
  return {
    seed: values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : whole("seed", values.seed, 0, 2 ** 32),
    runs: whole("runs", values.runs ?? (values.short ? String(shortRuns) : "1"), 1, 100_000),
    seconds: whole("time", values.time ?? (values.short ? String(shortSeconds) : "30"), 1, 3_600),
    ...size,
    faults: values.faults === undefined ? control?.faults : namedFaults(values.faults, size),
    control,
    reportDirectory: values.report,
  };
}

/** Returns the fault classes of one run. */
export function faultsOf({ faults, ...size }: Options, seed: number): readonly Fault[] {
  if (faults !== undefined) return faults;
  const possible = allFaults.filter((fault) => whyNot(fault, size) === undefined);
  return new SeededRandom(seed).shuffled(possible).slice(0, picked);
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seed: { type: "string" },
        runs: { type: "string" },
        time: { type: "string" },
        members: { type: "string", default: "3" },
        "serving-processes": { type: "string", default: "0" },
        "etcd-members": { type: "string", default: "0" },
        faults: { type: "string" },
        short: { type: "boolean", default: false },
        control: { type: "string" },
        report: { type: "string", default: ".chaos" },
        list: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function whole(flag: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new UsageError(`--${flag}: ${text} is not a whole number from ${min} to ${max}`);
}

function namedControl(name: string): Control {
  const control = controls.find((one) => one.name === name);
  if (control !== undefined) return control;
  throw new UsageError(`--control: there is no ${name}, but ${controls.map((one) => one.name).join(", ")}`);
}

function namedFaults(text: string, size: ClusterSize): Fault[] {
  return text
    .split(",")
    .filter((name) => name !== "")
    .map((name) => {
      const fault = faultNamed(name);
      if (fault === undefined) throw new UsageError(`--faults: there is no ${name}; --list shows all classes`);
      const why = whyNot(fault, size);
      if (why !== undefined) throw new UsageError(`--faults: ${name} cannot be run here: ${why}`);
      return fault;
    });
}
