import { storeContract } from "../../test/contract/store-contract.ts";
import { MemoryStore } from "./memory-store.ts";

storeContract("MemoryStore", async () => new MemoryStore());
