import { logContract } from "./log-contract.ts";
import { MemoryLog } from "./memory-log.ts";

logContract("MemoryLog", () => ({
  create: async (base) => MemoryLog.create(base),
  reopen: async (log) => {
    await log.close();
    return (log as MemoryLog).reopen();
  },
}));
