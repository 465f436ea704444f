import { expect, test } from "bun:test";
import { put } from "../../../test/contract/store-commands.ts";
import { StoreUnavailableError } from "../store.ts";
import { WriteGate } from "./write-gate.ts";

/** More writes than may run together. */
const many = 600;

test("a limited number of writes run together, and all of them in time", async () => {
  const gate = new WriteGate();
  let running = 0;
  let runningMax = 0;
  const results = await Promise.all(
    Array.from({ length: many }, (_, at) =>
      gate.run(put("/registry/a", `${at}`), async () => {
        running++;
        runningMax = Math.max(runningMax, running);
        await Promise.resolve();
        running--;
        return at;
      }),
    ),
  );
  expect(results).toEqual(Array.from({ length: many }, (_, at) => at));
  expect(runningMax).toBe(256);
});

test("a failed write makes room for the next, and a closed gate lets nothing in", async () => {
  const gate = new WriteGate();
  const failing = () => Promise.reject(new Error("failed"));
  const outcomes = await Promise.allSettled(
    Array.from({ length: many }, () => gate.run(put("/registry/a", "x"), failing)),
  );
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(["rejected"]));
  await gate.idle();
  const closed = new StoreUnavailableError("closed");
  gate.close(closed);
  await expect(gate.run(put("/registry/a", "x"), async () => 1)).rejects.toBe(closed);
});
