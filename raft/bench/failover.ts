import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeCertificates } from "../example/certificates.ts";
import { freePorts } from "../testing/free-ports.ts";
import type { FailoverReport } from "./failover-member.ts";

/**
 * Measures how long writes stop when a leader is killed or transfers leadership. Three processes with default timeouts,
 * each with a writer: `bun raft/bench/failover.ts [--kills 50] [--transfers 20]`.
 */
const { values } = parseArgs({
  options: { kills: { type: "string", default: "50" }, transfers: { type: "string", default: "20" } },
});
const directory = mkdtempSync(join(tmpdir(), "raft-failover-"));
const ids = [1, 2, 3];
const settleMs = 400;

interface Member {
  readonly process: Bun.Subprocess<"ignore", "inherit", "inherit">;
  leads: boolean;
  /** Whether it has written since it was started. */
  wrote: boolean;
}

const members = new Map<number, Member>();
let lastWriteMs = 0;
let gapMs = 0;

function start(id: number, ports: readonly number[]): void {
  const options = JSON.stringify({ id, ports, directory });
  const process_ = Bun.spawn([process.execPath, join(import.meta.dir, "failover-member.ts"), options], {
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
    ipc: ({ wrote, leads }: FailoverReport) => {
      const member = members.get(id);
      if (member?.process !== process_) return;
      member.leads = leads;
      if (!wrote) return;
      member.wrote = true;
      const nowMs = performance.now();
      gapMs = Math.max(gapMs, nowMs - lastWriteMs);
      lastWriteMs = nowMs;
    },
  });
  members.set(id, { process: process_, leads: false, wrote: false });
}

async function leader(): Promise<number> {
  for (;;) {
    const [found] = [...members].filter(([, { leads }]) => leads);
    if (found !== undefined) return found[0];
    await Bun.sleep(5);
  }
}

/** Measures the longest time without a write, from just before an action until writes have continued for a while. */
async function gapAround(act: (leads: number) => void): Promise<number> {
  const leads = await leader();
  await Bun.sleep(settleMs);
  gapMs = 0;
  lastWriteMs = performance.now();
  const begunMs = lastWriteMs;
  act(leads);
  do await Bun.sleep(settleMs);
  while (performance.now() - lastWriteMs > settleMs / 2 && performance.now() - begunMs < 30_000);
  return gapMs;
}

function tell(what: string, gaps: readonly number[]): Promise<number> {
  const sorted = [...gaps].sort((left, right) => left - right);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(0);
  return Bun.write(
    Bun.stdout,
    `${what}: ${gaps.length} times, ms without a write: p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}, max ${at(1)}\n`,
  );
}

try {
  makeCertificates(directory, ids);
  const ports = await freePorts(ids.length);
  for (const id of ids) start(id, ports);
  await leader();
  const transfers: number[] = [];
  for (let count = 0; count < Number(values.transfers); count++) {
    transfers.push(await gapAround((id) => members.get(id)?.process.send({ transferTo: (id % ids.length) + 1 })));
  }
  if (transfers.length > 0) await tell("leadership transferred", transfers);
  const kills: number[] = [];
  for (let count = 0; count < Number(values.kills); count++) {
    let killed = 0;
    kills.push(
      await gapAround((id) => {
        killed = id;
        const member = members.get(id);
        if (member !== undefined) member.leads = false;
        member?.process.kill("SIGKILL");
      }),
    );
    start(killed, ports);
    // Until the killed member is back, every quorum needs the next leader.
    while (members.get(killed)?.wrote !== true) await Bun.sleep(10);
  }
  if (kills.length > 0) await tell("leader killed", kills);
} finally {
  for (const { process: one } of members.values()) one.kill("SIGKILL");
  await Promise.all([...members.values()].map(({ process: one }) => one.exited));
  rmSync(directory, { recursive: true, force: true });
}
