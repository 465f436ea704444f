import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal } from "../testing.ts";
import { priorityLevels } from "./flow-control-objects.ts";

const path = "flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations";
const minimal: JsonObject = { spec: { type: "Limited", limited: { limitResponse: { type: "Reject" } } } };
const rich: JsonObject = {
  spec: {
    type: "Limited",
    limited: {
      nominalConcurrencyShares: 10,
      lendablePercent: 50,
      borrowingLimitPercent: 100,
      limitResponse: { type: "Queue", queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
    },
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a PriorityLevelConfiguration with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.type", "Free", ['spec.type: Unsupported value: "Free": supported values: "Exempt", "Limited"']],
  [
    "spec.type",
    "Exempt",
    [
      "spec.type: Invalid value: \"Exempt\": type must be 'Exempt' if and only if name is 'exempt'",
      "spec.limited: Forbidden: must be nil if the type is not Limited",
    ],
  ],
  ["spec.limited", undefined, ["spec.limited: Required value: must not be empty when type is Limited"]],
  [
    "spec.limited.nominalConcurrencyShares",
    -1,
    ["spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer"],
  ],
  [
    "spec.limited.lendablePercent",
    101,
    ["spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive"],
  ],
  [
    "spec.limited.borrowingLimitPercent",
    -1,
    ["spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer"],
  ],
  [
    "spec.limited.limitResponse.type",
    "Wait",
    ['spec.limited.limitResponse.type: Unsupported value: "Wait": supported values: "Queue", "Reject"'],
  ],
  [
    "spec.limited.limitResponse.type",
    "Reject",
    ["spec.limited.limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited"],
  ],
  [
    "spec.limited.limitResponse.queuing",
    undefined,
    ["spec.limited.limitResponse.queuing: Required value: must not be empty if limited.limitResponse.type is Limited"],
  ],
  [
    "spec.limited.limitResponse.queuing.queues",
    -1,
    [
      "spec.limited.limitResponse.queuing.queues: Invalid value: -1: must be positive",
      "spec.limited.limitResponse.queuing.handSize: Invalid value: 8: should not be greater than queues (-1)",
    ],
  ],
  [
    "spec.limited.limitResponse.queuing.queues",
    10000001,
    [
      "spec.limited.limitResponse.queuing.queues: Invalid value: 10000001: must not be greater than 10000000",
      "spec.limited.limitResponse.queuing.handSize: Invalid value: 8: required entropy bits of deckSize 10000001 and handSize 8 should not be greater than 60",
    ],
  ],
  [
    "spec.limited.limitResponse.queuing.handSize",
    65,
    ["spec.limited.limitResponse.queuing.handSize: Invalid value: 65: should not be greater than queues (64)"],
  ],
  [
    "spec.limited.limitResponse.queuing.handSize",
    -1,
    ["spec.limited.limitResponse.queuing.handSize: Invalid value: -1: must be positive"],
  ],
  [
    "spec.limited.limitResponse.queuing.queueLengthLimit",
    -1,
    ["spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be positive"],
  ],
  ["spec.exempt", { nominalConcurrencyShares: 1 }, ["spec.exempt: Forbidden: must be nil if the type is Limited"]],
])("a PriorityLevelConfiguration with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each(priorityLevels.map(({ object }) => [object.metadata.name, object]))(
  "the level %s that exists from the start is accepted",
  async (_, object) => {
    expect(await refusal(path, object as unknown as JsonObject)).toEqual([]);
  },
);

test("only the shares of the exempt level are free to choose", async () => {
  const [exempt, catchAll] = priorityLevels.map(({ object }) => object as unknown as JsonObject);
  const richer = changed(exempt ?? {}, "spec.exempt.nominalConcurrencyShares", 7);
  expect(await refusal(path, richer)).toEqual([]);
  const [cause] = await refusal(path, changed(catchAll ?? {}, "spec.limited.nominalConcurrencyShares", 7));
  expect(cause).toStartWith('spec: Invalid value: {"Type":"Limited","Limited":{"NominalConcurrencyShares":7,');
  expect(cause).toEndWith("spec of 'catch-all' must equal the fixed value");
});
