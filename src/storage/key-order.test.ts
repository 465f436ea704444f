import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Key } from "../api/entry.ts";
import { compareKeys, KeyOrder } from "./key-order.ts";

const anyKey = fc
  .tuple(fc.constantFrom("/registry/", "/r/", "/", "a"), fc.constantFrom("a", "a!", "ab", "b"), fc.nat(3))
  .chain(([root, part, depth]) =>
    fc
      .array(fc.constantFrom("", "a", "b", "/"), { minLength: depth, maxLength: depth })
      .map((rest) => [`${root}${part}`, ...rest].join("/") as Key),
  );
const step = fc.record({ key: anyKey, isRead: fc.boolean() });

test("after any writes, the lists of a prefix have its live keys in order", () => {
  fc.assert(
    fc.property(fc.array(anyKey), fc.array(step, { maxLength: 40 }), anyKey, (initial, steps, prefix) => {
      const live = new Set<Key>(initial);
      const order = new KeyOrder((key) => live.has(key), [...live].sort(compareKeys));
      for (const { key, isRead } of steps) {
        if (live.delete(key)) order.remove(key);
        else {
          live.add(key);
          order.add(key);
        }
        if (isRead) order.lists(prefix);
      }
      for (const wanted of [prefix, "/", "" as Key, prefix.slice(0, -1) as Key]) {
        const listed = order.lists(wanted as Key).flat();
        expect(listed).toEqual([...listed].sort(compareKeys));
        const found = listed.filter((key) => key.startsWith(wanted));
        expect(found).toEqual([...live].filter((key) => key.startsWith(wanted)).sort(compareKeys));
      }
    }),
  );
});

test("a change of one resource leaves the list of another as it is", () => {
  const keys = ["/registry/apps/deployments/n/a", "/registry/pods/n/a", "/registry/pods/n/b"] as Key[];
  const live = new Set(keys);
  const order = new KeyOrder((key) => live.has(key), keys);
  const [before] = order.lists("/registry/pods/n/" as Key);
  order.add("/registry/services/specs/n/a" as Key);
  live.delete("/registry/apps/deployments/n/a" as Key);
  order.remove("/registry/apps/deployments/n/a" as Key);
  expect(order.lists("/registry/pods/n/" as Key)[0]).toBe(before as readonly Key[]);
});

test("a part goes with its last key", () => {
  const key = "/registry/example.com/things/n/a" as Key;
  const order = new KeyOrder(() => false, [key]);
  order.remove(key);
  expect(order.lists("/" as Key)).toEqual([]);
});
