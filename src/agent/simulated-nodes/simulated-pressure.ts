import type { Node } from "../../api/types/core-v1.ts";
import { type EvictionLimit, evictionLimits, evictionTransitionMsDefault } from "../eviction/eviction-limits.ts";
import { EvictionManager, type EvictionParts } from "../eviction/eviction-manager.ts";
import { NodePressure } from "../eviction/node-pressure.ts";
import { bytesOf } from "../eviction/pod-usage.ts";
import { amountOf, type Pressure, parseEvictionAmounts } from "../node/eviction-thresholds.ts";
import type { MachineUsage } from "../node/machine.ts";
import { nodeDefaults } from "../node/node-settings.ts";

/** Annotation of a simulated Node with what its machine has left, such as `memory.available=50Mi,nodefs.available=5%`. */
export const availableAnnotation = "simulation.quorate/available";

const checkMs = 1_000;
/** Inodes and process ids of a simulated machine. */
const countMax = 1_000_000;
const settings = {
  limits: evictionLimits({ hard: nodeDefaults.evictionHard }) as readonly EvictionLimit[],
  transitionMs: evictionTransitionMsDefault,
  podGraceSecondsMax: 0,
};

export type SimulatedPressureParts = Omit<EvictionParts, "settings" | "machine" | "pressure">;

interface Watched {
  readonly manager: EvictionManager;
  readonly pressure: NodePressure;
  dueMs: number;
}

/** Makes simulated nodes short of what their annotations say. A node without the annotation costs nothing. */
export class SimulatedPressure implements Disposable {
  readonly #nodeOf: (name: string) => Node | undefined;
  /** By the name of the node. */
  readonly #parts = new Map<string, SimulatedPressureParts>();
  /** The nodes that are or were short of something. */
  readonly #watched = new Map<string, Watched>();
  #timer: Disposable | undefined;

  constructor(nodeOf: (name: string) => Node | undefined) {
    this.#nodeOf = nodeOf;
  }

  add(nodeName: string, parts: SimulatedPressureParts): void {
    this.#parts.set(nodeName, parts);
    this.#timer ??= parts.clock.every(checkMs, () => this.#check());
  }

  /** Returns the pressures that the conditions of a node show. */
  pressuresOf(nodeName: string): ReadonlySet<Pressure> {
    return this.#watched.get(nodeName)?.pressure.pressures ?? new Set();
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  #check(): void {
    for (const [name, parts] of this.#parts) {
      const isShort = this.#nodeOf(name)?.metadata.annotations?.[availableAnnotation] !== undefined;
      const known = this.#watched.get(name);
      if (!isShort && (known === undefined || known.pressure.pressures.size === 0)) this.#watched.delete(name);
      else void this.#checkNode(known ?? this.#watch(name, parts), parts);
    }
  }

  #watch(name: string, parts: SimulatedPressureParts): Watched {
    const machine = { usage: async () => usageOf(this.#nodeOf(name)) };
    const pressure = new NodePressure(settings);
    const manager = new EvictionManager({ ...parts, settings, pressure, machine });
    const watched = { manager, pressure, dueMs: 0 };
    this.#watched.set(name, watched);
    return watched;
  }

  async #checkNode(watched: Watched, { clock }: SimulatedPressureParts): Promise<void> {
    if (clock.steadyMs() < watched.dueMs) return;
    watched.dueMs = Number.POSITIVE_INFINITY;
    watched.dueMs = clock.steadyMs() + (await watched.manager.check());
  }
}

/** @throws Error for an annotation that cannot be read */
function usageOf(node: Node | undefined): MachineUsage {
  const text = node?.metadata.annotations?.[availableAnnotation] ?? "";
  const { capacity = {} } = node?.status ?? {};
  const capacityOf = (signal: string): number => {
    if (signal === "memory.available") return bytesOf(capacity["memory"] ?? "0");
    return signal.endsWith("fs.available") ? bytesOf(capacity["ephemeral-storage"] ?? "0") : countMax;
  };
  try {
    const amounts = [...parseEvictionAmounts(text)].map(([signal, amount]) => {
      const whole = capacityOf(signal);
      return [signal, { available: amountOf(amount, whole), capacity: whole }] as const;
    });
    return Object.fromEntries(amounts);
  } catch (error) {
    throw new Error(`annotation ${availableAnnotation}: ${(error as Error).message}`);
  }
}
