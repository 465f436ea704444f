import { join } from "node:path";
import { mutantVariable } from "../../raft/testing/mutants/mutant.ts";
import type { Launch } from "../cluster/launch.ts";
import { faultNamed } from "../faults/catalogue.ts";
import type { Fault } from "../faults/fault.ts";

/**
 * A deliberately broken server, with the faults that expose it. Runs must find the error, or they would not find an
 * accidental one either. The server has no switch for it.
 */
export interface Control {
  readonly name: string;
  readonly does: string;
  readonly faults: readonly Fault[];
  /** Whether it is the store on etcd that is broken. */
  readonly isOnEtcd: boolean;
  /** Returns the way to run it. @param program the path of the correct one */
  readonly launch: (program: string) => Launch;
}

const root = join(import.meta.dir, "../..");
const syncs = "fsync,fdatasync";
const lie = ["-e", `trace=${syncs}`, "-e", `inject=${syncs}:retval=0`];
const sources = join(root, "src/main.ts");

export function goodLaunch(program: string): Launch {
  return { command: [program], environment: {} };
}

function preloaded(path: string, environment: Launch["environment"] = {}): Launch {
  return { command: [process.execPath, "--preload", join(root, path), sources], environment };
}

/**
 * Returns a control with one broken rule of the consensus core, changed as it is loaded. The core's own tests use the
 * same list.
 */
function mutant(name: string, does: string, rule: string, faults: readonly string[]): Control {
  const launch = () => preloaded("raft/testing/mutants/preload.ts", { [mutantVariable]: rule });
  return { name, does, faults: named(faults), isOnEtcd: false, launch };
}

export const controls: readonly Control[] = [
  {
    name: "no-sync",
    does: "the log is written but not synced",
    faults: named(["power-cut-all"]),
    isOnEtcd: false,
    launch: () => preloaded("chaos/controls/no-sync.ts"),
  },
  {
    name: "lying-sync",
    does: "the disk reports a sync that it has not made",
    faults: named(["power-cut-all"]),
    isOnEtcd: false,
    launch: (program) => ({
      // The server's process keeps its own pid and signals beside this one.
      command: ["strace", "-D", "-f", "--seccomp-bpf", "-qqq", "-o", "/dev/null", ...lie, program],
      environment: {},
    }),
  },
  mutant(
    "no-read-round",
    "the leader answers reads without asking whether it still leads",
    "read confirmed without a round",
    ["isolate-leader+starve-leader"],
  ),
  {
    name: "no-barrier",
    does: "reads do not ask etcd for its revision",
    faults: named(["etcd-cut-off"]),
    isOnEtcd: true,
    launch: () => preloaded("chaos/controls/no-barrier.ts"),
  },
  {
    name: "forgotten-attempt",
    does: "a write that etcd did not answer counts as not sent",
    faults: named(["etcd-answers-cut", "etcd-kill-all"]),
    isOnEtcd: true,
    launch: () => preloaded("chaos/controls/forgotten-attempt.ts"),
  },
];

function named(names: readonly string[]): Fault[] {
  return names.map((name) => faultNamed(name) as Fault);
}
