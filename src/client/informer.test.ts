import { expect, test } from "bun:test";
import { type Status, StatusError, status } from "../api/status.ts";
import type { ConfigMap } from "../api/types/core-v1.ts";
import { ManualClock } from "../storage/cacher/testing.ts";
import type { ListOptions, ObjectList, ResourceType, WatchEvent, WatchOptions } from "./client.ts";
import { Informer, type InformerOptions } from "./informer.ts";
import { NoAnswerError } from "./transport.ts";

const type: ResourceType<ConfigMap> = { group: "", version: "v1", resource: "configmaps" };

function configMap(name: string, resourceVersion: string, uid = name): ConfigMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "n", uid, resourceVersion } };
}

function page(resourceVersion: string, items: ConfigMap[], token?: string): ObjectList<ConfigMap> {
  return { metadata: { resourceVersion, ...(token === undefined ? {} : { continue: token }) }, items };
}

const bookmark = (resourceVersion: string): WatchEvent<ConfigMap> => ({
  type: "BOOKMARK",
  resourceVersion,
  endsInitialEvents: false,
});

/** A step of a watch: an event, its end, or what breaks it. */
type Step = WatchEvent<ConfigMap> | "end" | Error;

/** A server of which the test says what it answers; every watch stays open behind its last step. */
class Script {
  readonly clock = new ManualClock();
  readonly asked: string[] = [];
  readonly told: string[] = [];
  readonly errors: unknown[] = [];
  lists: (ObjectList<ConfigMap> | Error)[] = [];
  watches: Step[][] = [];

  start(options: Partial<InformerOptions<ConfigMap>> = {}): Informer<ConfigMap> {
    const say = (word: string) => (object: ConfigMap) =>
      void this.told.push(`${word} ${object.metadata.name}@${object.metadata.resourceVersion}`);
    return new Informer({
      client: { list: this.#list as never, watch: this.#watch as never },
      type,
      clock: this.clock,
      random: () => 0,
      added: say("added"),
      updated: say("updated"),
      deleted: say("deleted"),
      onError: (error) => this.errors.push(error),
      ...options,
    });
  }

  readonly #list = async (_: unknown, { limit, continue: token }: ListOptions): Promise<ObjectList<ConfigMap>> => {
    this.asked.push(token === undefined ? `list ${limit}` : `list ${limit} ${token}`);
    const answer = this.lists.shift();
    if (answer === undefined) throw new Error("the script has no more lists");
    if (answer instanceof Error) throw answer;
    return answer;
  };

  readonly #watch = async function* (
    this: Script,
    _: unknown,
    { resourceVersion, signal }: WatchOptions,
  ): AsyncGenerator<WatchEvent<ConfigMap>, void> {
    this.asked.push(`watch ${resourceVersion}`);
    for (const step of this.watches.shift() ?? []) {
      if (step === "end") return;
      if (step instanceof Error) throw step;
      yield step;
    }
    await new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  }.bind(this);
}

const settle = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

test("it lists in pages, tells of every object, and watches from there", async () => {
  const script = new Script();
  script.lists = [page("7", [configMap("a", "3")], "more"), page("7", [configMap("b", "4")])];
  script.watches = [
    [
      { type: "ADDED", object: configMap("c", "8") },
      { type: "MODIFIED", object: configMap("a", "9") },
      { type: "DELETED", object: configMap("b", "10") },
    ],
  ];
  using informer = script.start();
  expect(informer.isSynced).toBe(false);
  await informer.synced;
  await settle();
  expect(script.asked).toEqual(["list 500", "list 500 more", "watch 7"]);
  expect(script.told).toEqual(["added a@3", "added b@4", "added c@8", "updated a@9", "deleted b@10"]);
  expect([...informer.objects()].map(({ metadata }) => metadata.name)).toEqual(["a", "c"]);
  expect(informer.get("a", "n")?.metadata.resourceVersion).toBe("9");
});

test("a watch that ends is gone on with from its last bookmark", async () => {
  const script = new Script();
  script.lists = [page("7", [])];
  script.watches = [[{ type: "ADDED", object: configMap("a", "8") }, bookmark("20"), "end"]];
  using _ = script.start();
  await settle();
  expect(script.asked).toEqual(["list 500", "watch 7", "watch 20"]);
  expect(script.errors).toEqual([]);
});

test("a watch that breaks off is resumed after a pause that grows, without a list", async () => {
  const script = new Script();
  const cut = new NoAnswerError("cut");
  script.lists = [page("7", [])];
  script.watches = [[cut], [cut], []];
  using _ = script.start();
  await settle();
  expect(script.asked).toEqual(["list 500", "watch 7"]);
  for (const [waitMs, asked] of [
    [499, 2],
    [1, 3],
    [999, 3],
    [1, 4],
  ] as const) {
    script.clock.advance(waitMs);
    await settle();
    expect(script.asked).toHaveLength(asked);
  }
  expect(script.asked.slice(1)).toEqual(["watch 7", "watch 7", "watch 7"]);
  expect(script.errors).toEqual([cut, cut]);
});

test("a caller that knows that the server answers again ends the pause", async () => {
  const script = new Script();
  const cut = new NoAnswerError("cut");
  script.lists = [page("7", [])];
  script.watches = [[cut], [cut], [cut], []];
  using informer = script.start();
  await settle();
  for (let watches = 2; watches <= 3; watches++) {
    informer.retryNow();
    await settle();
    expect(script.asked).toHaveLength(1 + watches);
  }
  script.clock.advance(500);
  await settle();
  expect(script.asked.slice(1)).toEqual(["watch 7", "watch 7", "watch 7", "watch 7"]);
});

test("a server that ends every watch at once is not asked without a pause", async () => {
  const script = new Script();
  script.lists = [page("7", [])];
  script.watches = [["end"], ["end"], []];
  using _ = script.start();
  await settle();
  expect(script.asked).toEqual(["list 500", "watch 7"]);
  script.clock.advance(500);
  await settle();
  expect(script.asked).toEqual(["list 500", "watch 7", "watch 7"]);
});

test("where the history is gone it lists anew and tells the difference", async () => {
  const script = new Script();
  script.lists = [
    page("7", [configMap("stays", "1"), configMap("changes", "2"), configMap("goes", "3"), configMap("replaced", "4")]),
    page("30", [
      configMap("stays", "1"),
      configMap("changes", "20"),
      configMap("replaced", "21", "another"),
      configMap("comes", "22"),
    ]),
  ];
  script.watches = [[status.expired("too old resource version: 7 (20)")]];
  using informer = script.start();
  await settle();
  script.told.length = 0;
  script.clock.advance(500);
  await settle();
  expect(script.asked).toEqual(["list 500", "watch 7", "list 500", "watch 30"]);
  expect(script.told).toEqual([
    "deleted goes@3",
    "updated changes@20",
    "deleted replaced@4",
    "added replaced@21",
    "added comes@22",
  ]);
  expect([informer.size, script.errors]).toEqual([4, []]);
});

test("pages that expire are followed by a list in one answer", async () => {
  const script = new Script();
  script.lists = [page("7", [configMap("a", "1")], "more"), status.expired("gone"), page("9", [configMap("a", "8")])];
  using informer = script.start();
  await settle();
  expect(informer.isSynced).toBe(false);
  script.clock.advance(500);
  await informer.synced;
  expect(script.asked.slice(0, 3)).toEqual(["list 500", "list 500 more", "list 0"]);
  expect(script.told).toEqual(["added a@8"]);
});

test("it waits as long as the server says", async () => {
  const script = new Script();
  script.lists = [status.tooManyRequests("busy", 7), page("7", [])];
  using informer = script.start();
  await settle();
  script.clock.advance(6_999);
  await settle();
  expect(script.asked).toEqual(["list 500"]);
  script.clock.advance(1);
  await informer.synced;
  expect(script.errors).toHaveLength(1);
});

test("an error of a handler is reported, and nothing else changes", async () => {
  const script = new Script();
  script.lists = [page("7", [configMap("a", "1"), configMap("b", "2")])];
  using informer = script.start({
    added: () => {
      throw new Error("the handler");
    },
  });
  await informer.synced;
  expect([informer.size, script.errors.map(String)]).toEqual([2, ["Error: the handler", "Error: the handler"]]);
});

test("a collection of too many objects is reported and not held", async () => {
  const script = new Script();
  script.lists = [page("7", [configMap("a", "1"), configMap("b", "2")])];
  using informer = script.start({ objectsMax: () => 1 });
  await settle();
  expect(informer.size).toBe(0);
  expect(script.errors.map(String)).toEqual(["Error: configmaps: there are more than 1 objects"]);
});

test("nothing happens after its end", async () => {
  const script = new Script();
  script.lists = [page("7", []), page("8", [])];
  const informer = script.start();
  await informer.synced;
  informer[Symbol.dispose]();
  await settle();
  script.clock.advance(60_000);
  await settle();
  expect(script.asked).toEqual(["list 500", "watch 7"]);
  expect(script.errors).toEqual([]);
  expect(script.clock.timers).toBe(0);
});

test("a Status of another kind than 410 is reported", async () => {
  const script = new Script();
  const forbidden: Status = { ...status.unauthorized().status, code: 403, reason: "Forbidden" };
  script.lists = [page("7", [])];
  script.watches = [[new StatusError(forbidden)]];
  using _ = script.start();
  await settle();
  expect(script.errors).toEqual([new StatusError(forbidden)]);
  expect(script.asked).toEqual(["list 500", "watch 7"]);
});

test("objects are prepared before they are kept, those of lists and of events", async () => {
  const script = new Script();
  script.lists = [page("5", [configMap("a", "1")])];
  script.watches = [[{ type: "ADDED", object: configMap("b", "6") }]];
  const prepare = ({ metadata }: ConfigMap) => (metadata.labels = { prepared: "true" });
  using informer = script.start({ prepare });
  await informer.synced;
  await settle();
  expect([...informer.objects()].map(({ metadata }) => metadata.labels)).toEqual([
    { prepared: "true" },
    { prepared: "true" },
  ]);
});
