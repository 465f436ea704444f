import { expect, test } from "bun:test";
import type { Entry } from "../api/entry.ts";
import { labelSelectorOf } from "../api/label-selector-object.ts";
import type { StoreEvent } from "../storage/store.ts";
import { PodSelectors } from "./pod-selectors.ts";

const selectorOf = (app: string) => labelSelectorOf({ matchLabels: { app } });
const pod = (app: string) => ({ index: { labels: { app } } }) as unknown as Entry;
const change = (type: StoreEvent["type"], entry: Entry, previous?: Entry) =>
  ({ type, entry, previous }) as unknown as StoreEvent;

function selectors(): PodSelectors {
  const made = new PodSelectors();
  made.set("n", "web", selectorOf("web"));
  made.set("n", "db", selectorOf("db"));
  return made;
}

test("selectors choose pods of their own namespace until they are removed", () => {
  const made = selectors();
  expect([[...made.matching("n", pod("web"))], [...made.matching("other", pod("web"))]]).toEqual([["web"], []]);
  made.set("n", "web", undefined);
  expect([...made.matching("n", pod("web"))]).toEqual([]);
});

test("a change of a pod concerns those that choose it before or after, if they see a difference", () => {
  const made = selectors();
  const concerned = (event: StoreEvent, isDifferent: boolean) => [...made.concernedBy(event, "n", () => isDifferent)];
  expect(concerned(change("MODIFIED", pod("web"), pod("web")), true)).toEqual(["web"]);
  expect(concerned(change("MODIFIED", pod("web"), pod("web")), false)).toEqual([]);
  expect(concerned(change("MODIFIED", pod("db"), pod("web")), false)).toEqual(["web", "db"]);
  expect(concerned(change("MODIFIED", pod("x"), pod("web")), true)).toEqual(["web"]);
});

test("a pod that comes or goes is compared with none", () => {
  const seen: (Entry | undefined)[][] = [];
  const differ = (...states: (Entry | undefined)[]) => {
    seen.push(states);
    return true;
  };
  const [made, web] = [selectors(), pod("web")];
  expect([...made.concernedBy(change("ADDED", web), "n", differ)]).toEqual(["web"]);
  expect([...made.concernedBy(change("DELETED", web, web), "n", differ)]).toEqual(["web"]);
  expect([...made.concernedBy(change("ADDED", pod("x")), "n", differ)]).toEqual([]);
  expect(seen).toEqual([
    [undefined, web],
    [web, undefined],
  ]);
});
