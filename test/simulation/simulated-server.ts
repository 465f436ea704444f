import type { MemberId } from "../../raft/core/ids.ts";
import type { Clock } from "../../src/process/clock.ts";
import type { Registry } from "../../src/registry/registry.ts";
import type { CacherSet } from "../../src/storage/cacher/cacher-set.ts";
import type { Proposer } from "../../src/storage/replicated/proposer.ts";
import type { ReplicatedStore } from "../../src/storage/replicated/replicated-store.ts";
import { CorruptEntryError } from "../../src/storage/store.ts";

/** The process ended while a client was waiting for it. */
export class ConnectionLost extends Error {}

/** A server refuses an answer for which it would need a damaged record. */
export class DamageNoticed extends ConnectionLost {}

/** The process with the log and the disk, as the servers of its state know it. */
export interface HostReplica {
  readonly id: MemberId;
  readonly clock: Clock;
  readonly proposer: Proposer;
  readonly isStopping: boolean;
  /** Whether its disk has a damaged record. */
  readonly isDamaged: boolean;
  restart(graceMs: number, afterMs: number): Promise<void>;
}

/** A process that answers clients. */
export abstract class SimulatedServer {
  abstract readonly store: ReplicatedStore;
  abstract readonly cachers: CacherSet;
  abstract readonly configMaps: Registry;
  abstract readonly clock: Clock;
  readonly #waiting = new Set<() => void>();
  #isLost = false;

  /** The replica of the state: this process, or the one that it copies. */
  abstract get replica(): HostReplica;

  /** The log index up to which everything is applied. */
  abstract get index(): number;

  get id(): MemberId {
    return this.replica.id;
  }

  get isClosing(): boolean {
    return this.replica.isStopping;
  }

  /** Makes a request. @throws ConnectionLost if the process ends before it has answered */
  async call<T>(run: () => Promise<T>): Promise<T> {
    if (this.#isLost) throw new ConnectionLost();
    const { promise, reject } = Promise.withResolvers<never>();
    const lose = () => reject(new ConnectionLost());
    this.#waiting.add(lose);
    try {
      return await Promise.race([run(), promise]);
    } catch (error) {
      throw this.replica.isDamaged && error instanceof CorruptEntryError ? new DamageNoticed() : error;
    } finally {
      this.#waiting.delete(lose);
    }
  }

  /** Ends all connections of clients. */
  lost(): void {
    this.#isLost = true;
    for (const lose of this.#waiting) lose();
  }
}
