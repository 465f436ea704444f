import { describe, expect, test } from "bun:test";
import type { FlowSchema, PriorityLevelConfiguration } from "../../api/types/flowcontrol-v1.ts";
import type { UserInfo } from "../../request/user-info.ts";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { parseRequestInfo } from "../parse-request-info.ts";
import { type FlowConfiguration, FlowControl, type Passage } from "./flow-control.ts";

const apiVersion = "flowcontrol.apiserver.k8s.io/v1";
const info = parseRequestInfo("GET", "/api/v1/namespaces/a/configmaps/x");

function userOf(name: string): UserInfo {
  return { name, uid: "", groups: ["system:authenticated"], extra: new Map() };
}

function level(name: string, shares: number, queueLengthLimit: number): PriorityLevelConfiguration {
  const limitResponse = { type: "Queue", queuing: { queues: 4, handSize: 1, queueLengthLimit } };
  return {
    kind: "PriorityLevelConfiguration",
    apiVersion,
    metadata: { name, uid: `uid-of-${name}` },
    spec: { type: "Limited", limited: { nominalConcurrencyShares: shares, lendablePercent: 0, limitResponse } },
  };
}

function schema(name: string, levelName: string, user: string): FlowSchema {
  const resourceRules = [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"] }];
  return {
    kind: "FlowSchema",
    apiVersion,
    metadata: { name },
    spec: {
      priorityLevelConfiguration: { name: levelName },
      matchingPrecedence: 100,
      distinguisherMethod: { type: "ByUser" },
      rules: [{ subjects: [{ kind: "User", user: { name: user } }], resourceRules }],
    },
  };
}

class Configured implements FlowConfiguration {
  #version = 1;
  #levels: PriorityLevelConfiguration[] = [level("small", 5, 2)];
  #schemas: FlowSchema[] = [schema("for-alice", "small", "alice"), schema("dangling", "absent", "bob")];
  version = () => this.#version;
  levels = () => this.#levels;
  schemas = () => this.#schemas;
  change(levels: PriorityLevelConfiguration[], schemas = this.#schemas): void {
    this.#version++;
    this.#levels = levels;
    this.#schemas = schemas;
  }
}

function controlOf(configuration: FlowConfiguration, seats = 4, clock = new ManualClock()): FlowControl {
  const facts = { sizeOf: () => undefined, watchersOf: () => 0 };
  return new FlowControl({ clock, seats, configuration, facts });
}

/** Admits a request of the user, and adds it to `started` if it starts later. */
function admit(control: FlowControl, user: string, started: string[] = [], name = user) {
  const admission = control.admit(control.classify(userOf(user), info));
  if (admission.kind === "waiting") control.whenStarted(admission.passage, () => started.push(name));
  return admission;
}

function passageOf(admission: ReturnType<typeof admit>): Passage {
  if (admission.kind === "refused") throw new Error("the request was refused");
  return admission.passage;
}

describe("FlowControl", () => {
  test("a request has the level of its schema; one without a schema, or without its level, goes to catch-all", () => {
    const control = controlOf(new Configured());
    expect(control.classify(userOf("alice"), info).level.name).toBe("small");
    expect(control.classify(userOf("bob"), info).level.name).toBe("catch-all");
    expect(control.classify(userOf("carol"), info).level.name).toBe("catch-all");
  });

  test("requests beyond the seats of the level wait, and beyond its queue they are refused", () => {
    const control = controlOf(new Configured());
    const started: string[] = [];
    // Two levels with five shares each have two of the four seats each.
    const outcomes = Array.from({ length: 5 }, (_, at) => admit(control, "alice", started, String(at)));
    expect(outcomes.map(({ kind }) => kind)).toEqual(["started", "started", "waiting", "waiting", "refused"]);
    expect(outcomes[4]).toEqual({ kind: "refused", retryAfterSeconds: 1 });
    control.finish(passageOf(outcomes[0] as never));
    expect(started).toEqual(["2"]);
    control.finish(passageOf(outcomes[0] as never));
    expect(started).toEqual(["2"]);
  });

  test("a level without queues refuses what cannot start", () => {
    const control = controlOf(new Configured());
    const kinds = Array.from({ length: 3 }, () => admit(control, "carol").kind);
    expect(kinds).toEqual(["started", "started", "refused"]);
  });

  test("a request that gives up makes room in its queue", () => {
    const control = controlOf(new Configured());
    const outcomes = Array.from({ length: 4 }, () => admit(control, "alice"));
    control.giveUp(passageOf(outcomes[3] as never), "cancelled");
    expect(admit(control, "alice").kind).toBe("waiting");
  });

  test("a changed level counts for the next request", () => {
    const configuration = new Configured();
    const control = controlOf(configuration);
    admit(control, "alice");
    admit(control, "alice");
    expect(admit(control, "alice").kind).toBe("waiting");
    configuration.change([level("small", 15, 2)]);
    // Three of four seats; the request that waits gets the third.
    control.adjust();
    expect(control.levels.find(({ name }) => name === "small")?.queues.seatsInUse).toBe(3);
  });

  test("a level that is removed serves its requests to the end, and then disappears", () => {
    const configuration = new Configured();
    const control = controlOf(configuration);
    const passage = passageOf(admit(control, "alice"));
    configuration.change([]);
    expect(control.classify(userOf("alice"), info).level.name).toBe("catch-all");
    expect(control.levels.find(({ name }) => name === "small")?.isQuiescing).toBe(true);
    control.finish(passage);
    expect(control.levels.map(({ name }) => name)).not.toContain("small");
  });

  test("the exempt level never waits", () => {
    const control = controlOf(new Configured(), 1);
    const admin: UserInfo = { ...userOf("admin"), groups: ["system:masters"] };
    const kinds = Array.from({ length: 50 }, () => control.admit(control.classify(admin, info)).kind);
    expect(new Set(kinds)).toEqual(new Set(["started"]));
  });

  test("requests that come late in a long turn of the event loop wait for the next one", async () => {
    const clock = new ManualClock();
    const control = controlOf(new Configured(), 100, clock);
    const started: string[] = [];
    expect(admit(control, "alice").kind).toBe("started");
    clock.advance(6);
    expect(admit(control, "alice", started).kind).toBe("waiting");
    expect(started).toEqual([]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(started).toEqual(["alice"]);
  });
});
