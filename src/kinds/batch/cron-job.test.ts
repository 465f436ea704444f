import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updated, updateRefusal } from "../testing.ts";

const path = "batch/v1/cronjobs";
const template: JsonObject = { spec: { restartPolicy: "OnFailure", containers: [{ name: "c", image: "i" }] } };
const minimal: JsonObject = { spec: { schedule: "*/5 * * * *", jobTemplate: { spec: { template } } } };
const rich: JsonObject = {
  spec: {
    schedule: "0 2 * * MON-FRI",
    timeZone: "Europe/Berlin",
    startingDeadlineSeconds: 10,
    concurrencyPolicy: "Forbid",
    suspend: true,
    successfulJobsHistoryLimit: 0,
    failedJobsHistoryLimit: 0,
    jobTemplate: { metadata: { labels: { a: "b" } }, spec: { backoffLimit: 1, template } },
  },
};
const negative = "must be greater than or equal to 0";

test.each([
  ["little", minimal],
  ["everything", rich],
])("a CronJob with %s is accepted", async (_, cronJob) => {
  expect(await refusal(path, cronJob)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  [
    "metadata.name",
    "a".repeat(53),
    `metadata.name: Invalid value: "${"a".repeat(53)}": must be no more than 52 characters`,
  ],
  ["spec.schedule", undefined, "spec.schedule: Required value"],
  ["spec.schedule", "daily", 'spec.schedule: Invalid value: "daily": expected exactly 5 fields, found 1: [daily]'],
  [
    "spec.schedule",
    "61 * * * *",
    'spec.schedule: Invalid value: "61 * * * *": end of range (61) above maximum (59): 61',
  ],
  [
    "spec.schedule",
    "TZ=UTC 0 0 * * *",
    'spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
  ],
  ["spec.timeZone", "Mars/Olympus", 'spec.timeZone: Invalid value: "Mars/Olympus": unknown time zone Mars/Olympus'],
  ["spec.timeZone", "", 'spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string'],
  [
    "spec.timeZone",
    "local",
    'spec.timeZone: Invalid value: "local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
  ],
  ["spec.startingDeadlineSeconds", -1, `spec.startingDeadlineSeconds: Invalid value: -1: ${negative}`],
  [
    "spec.concurrencyPolicy",
    "Queue",
    'spec.concurrencyPolicy: Unsupported value: "Queue": supported values: "Allow", "Forbid", "Replace"',
  ],
  ["spec.successfulJobsHistoryLimit", -1, `spec.successfulJobsHistoryLimit: Invalid value: -1: ${negative}`],
  ["spec.failedJobsHistoryLimit", -1, `spec.failedJobsHistoryLimit: Invalid value: -1: ${negative}`],
  [
    "spec.jobTemplate.spec.selector",
    { matchLabels: { a: "b" } },
    'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
  ],
  [
    "spec.jobTemplate.spec.manualSelector",
    true,
    'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
  ],
  [
    "spec.jobTemplate.spec.template.spec.restartPolicy",
    "Always",
    'spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
  ],
])("a CronJob with %s = %j is refused", async (field, value, ...causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue, ...causes: string[]]>([
  ["spec.schedule", "@daily"],
  ["spec.jobTemplate.spec.template.spec.containers[0].image", "j"],
  ["spec.timeZone", "Nowhere", 'spec.timeZone: Invalid value: "Nowhere": unknown time zone Nowhere'],
])("an update that makes %s = %j gets the expected answer", async (field, value, ...causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});

test("the generation counts changes of the spec, and the status has a path of its own", async () => {
  const status: JsonObject = { lastScheduleTime: "2026-01-01T00:00:00Z" };
  expect((await updated(path, minimal, rich)).metadata.generation).toBe(2);
  expect(await updated(path, minimal, { ...rich, status }, "status")).toMatchObject({
    metadata: { generation: 1 },
    spec: { schedule: "*/5 * * * *" },
    status,
  });
});

test("an update of the status gets only the mistakes in the metadata that those of every kind get", async () => {
  const labelled = { ...minimal, metadata: { labels: { a: "b c" } } };
  expect(await updateRefusal(path, minimal, labelled, "status")).toHaveLength(2);
  expect(await updateRefusal(path, minimal, labelled)).toHaveLength(3);
});
