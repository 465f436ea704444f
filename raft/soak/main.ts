import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeCertificates } from "../example/certificates.ts";
import { freePorts } from "../testing/free-ports.ts";
import { MemberProcess } from "./member-process.ts";
import { type Kind, kinds, runRound } from "./round.ts";
import { PowerVolume, plainVolume, SmallVolume, type Volume, whyNoMounts } from "./volume.ts";

/**
 * Runs three real processes on real disks under load, with faults: kills (also at the named crash points), stops, full
 * disks, power cuts. `bun raft/soak/main.ts --kind kill|stop|full|power --rounds N [--seed N]`. Exits with 1 when a
 * promise was broken, which `--lying-sync` with `--kind power` must cause.
 */
const { values } = parseArgs({
  options: {
    kind: { type: "string", default: "kill" },
    rounds: { type: "string", default: "10" },
    "lying-sync": { type: "boolean", default: false },
    seed: { type: "string", default: String(Date.now() % 1e9) },
  },
});
const kind = kinds.find((one) => one === values.kind);
if (kind === undefined) throw new Error(`--kind is one of ${kinds.join(", ")}`);

const smallVolumeBytes = 12 << 20;
const ids = [1, 2, 3];

/**
 * Returns a Mulberry32 generator: small and the same on every machine. It does not control the timing of the processes.
 */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function volumeFor(what: Kind, directory: string): Volume {
  if (what === "full") return new SmallVolume(directory, smallVolumeBytes);
  return what === "power" ? new PowerVolume(directory) : plainVolume(directory);
}

const print = (text: string) => Bun.write(Bun.stdout, `${text}\n`);

async function soak(what: Kind, rounds: number): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), "raft-soak-"));
  const volumes: Volume[] = [];
  const members: MemberProcess[] = [];
  const violations: string[] = [];
  const totals = { acknowledged: 0, unknown: 0, refused: 0 };
  const faults = new Map<string, number>();
  const clean = async () => {
    await Promise.all(members.map((member) => member.kill()));
    for (const volume of volumes.splice(0)) volume.close();
    rmSync(directory, { recursive: true, force: true });
  };
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => void clean().finally(() => process.exit(130)));
  try {
    makeCertificates(join(directory, "certificates"), ids);
    for (const id of ids) volumes.push(volumeFor(what, join(directory, `volume-${id}`)));
    const ports = await freePorts(ids.length);
    for (const id of ids) {
      const own = volumes[id - 1]?.directory ?? directory;
      // The state is on another volume, so the log is the first to find its disk full.
      const stateDirectory = what === "full" && id > 1 ? directory : own;
      const certificates = join(directory, "certificates");
      const lyingSync = values["lying-sync"];
      members.push(new MemberProcess({ id, ports, directory: own, stateDirectory, certificates, lyingSync }));
    }
    await Promise.all(members.map((member) => member.start()));
    const random = seeded(Number(values.seed));
    for (let round = 1; round <= rounds && violations.length === 0; round++) {
      const history = await runRound(what, round, { members, volumes, random });
      violations.push(...history.violations);
      for (const key of ["acknowledged", "unknown", "refused"] as const) totals[key] += history.counts[key];
      for (const fault of history.faults) faults.set(fault, (faults.get(fault) ?? 0) + 1);
      if (round % 10 === 0 || round === rounds) await print(`${what}: round ${round} ${JSON.stringify(totals)}`);
    }
    for (const [fault, count] of [...faults].sort()) await print(`${what}: ${fault} ${count}`);
  } finally {
    await clean();
  }
  return violations;
}

const reason = kind === "full" || kind === "power" ? whyNoMounts(kind === "power") : undefined;
if (reason !== undefined) {
  await print(`${kind}: skipped: ${reason}`);
} else {
  const violations = await soak(kind, Number(values.rounds));
  for (const violation of violations.slice(0, 20)) await print(`VIOLATION ${violation}`);
  await print(`${kind}: ${violations.length === 0 ? "ok" : "FAILED"}, seed ${values.seed}`);
  if (violations.length > 0) process.exitCode = 1;
}
