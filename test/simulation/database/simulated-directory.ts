import type { DataDirectory } from "../../../src/storage/mvcc/data-directory.ts";
import { firstDatabase, type Identity } from "../../../src/storage/mvcc/identity.ts";
import type { SimulatedVolume } from "./simulated-volume.ts";

/** The data directory on a simulated volume. Its changes are durable when they resolve. */
export class SimulatedDirectory {
  readonly path = "(simulated)";
  readonly #volume: SimulatedVolume;

  constructor(volume: SimulatedVolume) {
    this.#volume = volume;
  }

  /** Returns the directory as the type that the store uses. */
  get asDirectory(): DataDirectory {
    return this as unknown as DataDirectory;
  }

  get identity(): Identity {
    return this.#volume.identity;
  }

  get databasePath(): string {
    return this.identity.database;
  }

  async markReady(): Promise<void> {
    this.#volume.identity = { ...this.identity, state: "ready" };
  }

  async newDatabasePath(): Promise<string> {
    await this.removeOtherDatabase();
    return this.#other;
  }

  async switchDatabase(): Promise<void> {
    this.#volume.identity = { ...this.identity, database: this.#other };
  }

  async removeOtherDatabase(): Promise<void> {
    this.#volume.databases.delete(this.#other);
  }

  get #other(): string {
    return this.identity.database === firstDatabase ? `${firstDatabase}-2` : firstDatabase;
  }
}
