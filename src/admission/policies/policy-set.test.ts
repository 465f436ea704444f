import { expect, test } from "bun:test";
import type { Entry } from "../../api/entry.ts";
import { CompiledEntries } from "./policy-set.ts";

const entryOf = (key: string) => ({ key }) as unknown as Entry;

/** Goes on until the loop has had another turn. */
function* slow(text: string): Generator<void, string> {
  let hasTurned = false;
  setImmediate(() => {
    hasTurned = true;
  });
  while (!hasTurned) yield;
  return text;
}

test("a policy that takes long is compiled once for all requests that wait for it", async () => {
  const compiled = new CompiledEntries<string>();
  const entry = entryOf("p");
  let count = 0;
  const compile = () => {
    count++;
    return slow("compiled");
  };
  const waiting = [compiled.get(entry, compile), compiled.get(entry, compile)];
  expect(waiting.every((one) => one instanceof Promise)).toBe(true);
  expect(await Promise.all(waiting)).toEqual(["compiled", "compiled"]);
  expect(compiled.get(entry, compile)).toBe("compiled");
  expect(count).toBe(1);
});

test("a compilation that fails is attempted again", async () => {
  const compiled = new CompiledEntries<string>();
  const entry = entryOf("p");
  function* failing(): Generator<void, string> {
    yield* slow("");
    throw new Error("no");
  }
  const failure = compiled.get(entry, failing);
  expect(await Promise.resolve(failure).catch((error: Error) => error.message)).toBe("no");
  expect(await compiled.get(entry, () => slow("compiled"))).toBe("compiled");
});

test("the policy that was used the longest ago is dropped first", async () => {
  const compiled = new CompiledEntries<string>(2);
  const [a, b, c] = [entryOf("a"), entryOf("b"), entryOf("c")];
  function* quick(text: string): Generator<void, string> {
    yield;
    return text;
  }
  await compiled.get(a, () => quick("a"));
  await compiled.get(b, () => quick("b"));
  await compiled.get(a, () => quick("again"));
  await compiled.get(c, () => quick("c"));
  expect(await compiled.get(a, () => quick("new"))).toBe("a");
  expect(await compiled.get(b, () => quick("new"))).toBe("new");
});
