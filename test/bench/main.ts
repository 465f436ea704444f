import { type Options, print, type Workload } from "./report.ts";
import { access } from "./workloads/access.ts";
import { applies } from "./workloads/applies.ts";
import { balancedFailover } from "./workloads/balanced-failover.ts";
import { boot } from "./workloads/boot.ts";
import { cascades } from "./workloads/cascades.ts";
import { catchUp } from "./workloads/catch-up.ts";
import { clusterCreates } from "./workloads/cluster-creates.ts";
import { clusterGets } from "./workloads/cluster-gets.ts";
import { coldStart } from "./workloads/cold-start.ts";
import { creates } from "./workloads/creates.ts";
import { customObjects } from "./workloads/custom-objects.ts";
import { customDefinitions } from "./workloads/definitions.ts";
import { endurance } from "./workloads/endurance.ts";
import { failover } from "./workloads/failover.ts";
import { fairness } from "./workloads/fairness.ts";
import { otherForms } from "./workloads/forms.ts";
import { gets } from "./workloads/gets.ts";
import { informers } from "./workloads/informers.ts";
import { largeRequests } from "./workloads/large-requests.ts";
import { lists } from "./workloads/lists.ts";
import { machineCeilings } from "./workloads/machine.ts";
import { patches } from "./workloads/patches.ts";
import { restartStorm } from "./workloads/restart-storm.ts";
import { selectiveWatches } from "./workloads/selective-watches.ts";
import { simulatedNodes } from "./workloads/simulated-nodes.ts";
import { stalledWatcher } from "./workloads/stalled-watcher.ts";
import { watches } from "./workloads/watches.ts";
import { webhooks } from "./workloads/webhooks.ts";

const workloads: Record<string, Workload> = {
  W0: boot,
  W1: gets,
  "W1-cluster": clusterGets,
  W2: lists,
  "W2-forms": otherForms,
  W3: informers,
  W4: creates,
  "W4-cluster": clusterCreates,
  W5: patches,
  W6: watches,
  "W6-selective": selectiveWatches,
  W7: restartStorm,
  W8: coldStart,
  "W8-cluster": catchUp,
  W9: coldStart,
  "W9-custom": customObjects,
  W10: customDefinitions,
  W11: stalledWatcher,
  W12: failover,
  "W12-balanced": balancedFailover,
  W13: endurance,
  W15: access,
  "W16-webhooks": webhooks,
  W18: largeRequests,
  W16: applies,
  W17: fairness,
  W19: simulatedNodes,
  W20: cascades,
};

const secondsDefault = 5;
const usage = `bench [--seconds n] [--scale n] [--from commit] [${Object.keys(workloads).join(" ")}]: all of them when none is named`;

const named: string[] = [];
const options: { -readonly [Name in keyof Options]: Options[Name] } = {
  seconds: secondsDefault,
  scale: 1,
  from: undefined,
};
const args = Bun.argv.slice(2);
for (let at = 0; at < args.length; at++) {
  const arg = args[at] as string;
  if (arg === "--seconds" || arg === "--scale") options[arg === "--scale" ? "scale" : "seconds"] = positive(args[++at]);
  else if (arg === "--from") options.from = args[++at] ?? fail();
  else if (workloads[arg] !== undefined) named.push(arg);
  else fail();
}

print("machine", await machineCeilings());
// W8 and W9 are two results of one run.
const runs = new Map<Workload, string[]>();
for (const name of named.length > 0 ? named : Object.keys(workloads)) {
  const run = workloads[name] as Workload;
  runs.set(run, [...(runs.get(run) ?? []), name]);
}
for (const [run, names] of runs) print(names.join(" "), await run(options));
process.exit(0);

function positive(text: string | undefined): number {
  const value = Number(text);
  return value > 0 ? value : fail();
}

function fail(): never {
  console.error(usage);
  process.exit(2);
}
