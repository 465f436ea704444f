import { SeededRandom } from "../../raft/testing/simulator/seeded-random.ts";
import { LinkRules } from "./link-rules.ts";
import { TapDevice } from "./tap-device.ts";

/**
 * A switch between the members' network interfaces, in its own thread. A port is a number, and also the last byte of
 * the hardware address behind it. Each direction between two ports can lose, delay, reorder, repeat and damage frames.
 */
export interface SwitchOptions {
  /** Name of the interface at each port. */
  readonly devices: readonly string[];
  readonly rules: SharedArrayBuffer;
  readonly seed: number;
}

declare const self: Worker;

const frameBytesMax = 65_536;
/** Time within which a stop is noticed. */
const pollMs = 20;
/** Maximum number of frames in transit. Further ones are lost, as in any switch. */
const delayedMax = 20_000;

interface Delayed {
  readonly dueMs: number;
  readonly to: number;
  readonly frame: Uint8Array;
}

self.onmessage = ({ data }: MessageEvent<SwitchOptions>) => {
  const devices = data.devices.map((name) => new TapDevice(name));
  const rules = new LinkRules(devices.length, data.rules);
  self.postMessage("open");
  forward(devices, rules, new SeededRandom(data.seed));
  for (const device of devices) device.close();
  self.postMessage("closed");
};

function forward(devices: readonly TapDevice[], rules: LinkRules, random: SeededRandom): void {
  const buffer = new Uint8Array(frameBytesMax);
  const delayed: Delayed[] = [];
  const freeMs = new Map<number, number>();
  while (!rules.isStopped) {
    const untilDueMs = delayed[0] === undefined ? pollMs : Math.max(0, Math.ceil(delayed[0].dueMs - performance.now()));
    TapDevice.wait(devices, Math.min(pollMs, untilDueMs));
    for (const [from, device] of devices.entries()) {
      for (let length = device.read(buffer); length > 0; length = device.read(buffer)) {
        const frame = buffer.subarray(0, length);
        for (const to of targets(frame, from, devices.length)) pass(frame, from, to);
      }
    }
    const nowMs = performance.now();
    while (delayed[0] !== undefined && delayed[0].dueMs <= nowMs) {
      const { to, frame } = delayed.shift() as Delayed;
      devices[to]?.write(frame);
    }
  }

  function pass(frame: Uint8Array, from: number, to: number): void {
    if (rules.read(from, to, "cut") === 1 || random.chance(rules.read(from, to, "lossPermille"))) {
      return rules.count(from, to, "lost");
    }
    rules.count(from, to, "passed");
    const copies = random.chance(rules.read(from, to, "duplicatePermille")) ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      const dueMs = due(frame.length, from, to);
      const damaged = random.chance(rules.read(from, to, "corruptPermille")) ? damage(frame, random) : frame;
      if (dueMs === undefined) devices[to]?.write(damaged);
      else if (delayed.length < delayedMax) insert(delayed, { dueMs, to, frame: damaged.slice() });
    }
  }

  /** Returns the delivery time, or undefined for immediate delivery. */
  function due(bytes: number, from: number, to: number): number | undefined {
    const delayUs = rules.read(from, to, "delayUs") + random.below(rules.read(from, to, "jitterUs") + 1);
    const bytesPerMs = rules.read(from, to, "bytesPerMs");
    if (delayUs === 0 && bytesPerMs === 0) return undefined;
    const nowMs = performance.now();
    if (bytesPerMs === 0) return nowMs + delayUs / 1000;
    const link = from * devices.length + to;
    const sentMs = Math.max(nowMs, freeMs.get(link) ?? 0) + bytes / bytesPerMs;
    freeMs.set(link, sentMs);
    return sentMs + delayUs / 1000;
  }
}

/**
 * Returns the target ports, only for IPv4 and its address resolution. The kernel's other frames are not the members'
 * traffic.
 */
function targets(frame: Uint8Array, from: number, ports: number): number[] {
  const isInternet = frame[12] === 0x08 && (frame[13] === 0x00 || frame[13] === 0x06);
  if (!isInternet) return [];
  const isToAll = ((frame[0] ?? 0) & 1) === 1;
  if (isToAll) return Array.from({ length: ports }, (_, port) => port).filter((port) => port !== from);
  const port = frame[5] ?? ports;
  return port < ports && port !== from ? [port] : [];
}

/** Changes a bit after the addresses, so that the frame arrives and its checksum must detect the damage. */
function damage(frame: Uint8Array, random: SeededRandom): Uint8Array {
  const damaged = frame.slice();
  const at = 34 + random.below(Math.max(1, frame.length - 34));
  if (at < damaged.length) damaged[at] = (damaged[at] ?? 0) ^ (1 << random.below(8));
  return damaged;
}

function insert(delayed: Delayed[], one: Delayed): void {
  let low = 0;
  let high = delayed.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((delayed[middle] as Delayed).dueMs <= one.dueMs) low = middle + 1;
    else high = middle;
  }
  delayed.splice(low, 0, one);
}
