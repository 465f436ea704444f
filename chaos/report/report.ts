import type { History } from "../history/history.ts";
import type { RunResult } from "../run.ts";

const violationsShown = 30;

/** Returns the command that repeats a run. The seed does not control the timing of the processes. */
export function replayCommand({
  seed,
  members,
  servingProcesses,
  etcdMembers,
  seconds: time,
  faults,
  control,
}: RunResult["options"]): string {
  const names = faults.map(({ name }) => name).join(",");
  const broken = control === undefined ? "" : ` --control ${control}`;
  const serving = servingProcesses === 0 ? "" : ` --serving-processes ${servingProcesses}`;
  const etcd = etcdMembers === 0 ? "" : ` --etcd-members ${etcdMembers}`;
  return `bun chaos/main.ts --seed ${seed} --members ${members}${serving}${etcd} --time ${time} --faults ${names}${broken}`;
}

/** Formats a run for people, in Markdown. */
export function report(result: RunResult): string {
  const { options, history, injected, violations, frames, deaths, startedMs, trafficMs } = result;
  const counts = countOutcomes(history);
  const events = history.watches.reduce((sum, { events: seen }) => sum + seen.length, 0);
  const lists = history.informers.reduce((sum, { lists: done }) => sum + done, 0);
  return [
    `# Chaos run ${options.seed}: ${violations.length === 0 ? "nothing found" : `${violations.length} violations`}`,
    "",
    "```sh",
    replayCommand(options),
    "```",
    "",
    "| Figure | |",
    "|---|---|",
    `| members | ${options.members} |`,
    ...(options.etcdMembers === 0 ? [] : [`| members of etcd | ${options.etcdMembers} |`]),
    `| traffic | ${seconds(trafficMs)} |`,
    `| operations | ${[...counts].map(([kind, count]) => `${count} ${kind}`).join(", ")} |`,
    `| lists, reads from memory | ${history.lists.length}, ${history.cachedReads.length} |`,
    `| watches, events | ${history.watches.length}, ${events} |`,
    `| lists by informers | ${lists} by ${history.informers.length} |`,
    `| longest time without an acknowledged write | ${seconds(longestOutageMs(history, startedMs))} |`,
    `| frames passed, lost | ${frames.passed}, ${frames.lost} |`,
    `| processes that ended by themselves | ${deaths} |`,
    "",
    "## Faults",
    "",
    "| At | For | Until ready | Fault | Chosen |",
    "|---|---|---|---|---|",
    ...injected.map(
      ({ name, notes, startMs, endMs, healMs }) =>
        `| ${seconds(startMs)} | ${seconds(endMs - startMs)} | ${seconds(healMs)} | ${name} | ${notes.join("; ")} |`,
    ),
    "",
    "## Violations",
    "",
    ...(violations.length === 0
      ? ["None."]
      : violations.slice(0, violationsShown).map(({ law, detail }) => `- **${law}**: ${detail}`)),
    ...(violations.length > violationsShown ? [`- and ${violations.length - violationsShown} more`] : []),
    ...surprises(history),
    "",
  ].join("\n");
}

/** Formats one line for the console. */
export function summary(result: RunResult): string {
  const { options, history, injected, violations, startedMs } = result;
  const counts = countOutcomes(history);
  const verdict = violations.length === 0 ? "ok" : `${violations.length} VIOLATIONS`;
  const outage = seconds(longestOutageMs(history, startedMs));
  return `seed ${options.seed}: ${verdict}; ${injected.length} faults, ${counts.get("ok") ?? 0} acknowledged, ${counts.get("unknown") ?? 0} unknown, longest outage ${outage}`;
}

export function countOutcomes({ operations }: History): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { outcome } of operations) counts.set(outcome.kind, (counts.get(outcome.kind) ?? 0) + 1);
  return new Map([...counts].sort(([, left], [, right]) => right - left));
}

function longestOutageMs({ operations }: History, startedMs: number): number {
  const times = operations
    .filter(({ request, outcome }) => request.verb !== "get" && outcome.kind === "ok")
    .map(({ returnedMs }) => returnedMs)
    .sort((left, right) => left - right);
  return times.reduce((longest, time, place) => Math.max(longest, time - (times[place - 1] ?? startedMs)), 0);
}

function surprises(history: History): string[] {
  if (history.surprises.size === 0) return [];
  return ["", "## Unexpected answers", "", ...[...history.surprises].map(([what, count]) => `- ${count} × ${what}`)];
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
