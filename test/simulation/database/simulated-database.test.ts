import { afterAll } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SeededRandom } from "../../../raft/testing/simulator/seeded-random.ts";
import type { openDatabase } from "../../../src/storage/mvcc/database.ts";
import { openAlone } from "../../contract/open-alone.ts";
import { storeContract } from "../../contract/store-contract.ts";
import { SimulatedDatabase } from "./simulated-database.ts";
import { SimulatedVolume } from "./simulated-volume.ts";

/** The simulated LevelDB is worth something only if a store works on it as on the real one. */
const root = mkdtempSync(join(tmpdir(), "simulated-database-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let stores = 0;

storeContract("ReplicatedStore on the simulated LevelDB", () => {
  const random = new SeededRandom(++stores);
  const volume = new SimulatedVolume(random);
  const open = (async (path: string) => {
    // The data directory expects the folder of the real one.
    mkdirSync(path, { recursive: true });
    return new SimulatedDatabase({ volume, path, random, mutation: undefined }).asDatabase;
  }) as typeof openDatabase;
  return openAlone({ directory: join(root, `${stores}`), open });
});
