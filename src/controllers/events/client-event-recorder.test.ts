import { expect, test } from "bun:test";
import { status } from "../../api/status.ts";
import type { Client } from "../../client/client.ts";
import { NoAnswerError } from "../../client/transport.ts";
import { ManualClock, settle } from "../../storage/cacher/testing.ts";
import { clientEventRecorder } from "./client-event-recorder.ts";

const about = { apiVersion: "v1", kind: "Pod", namespace: "n", name: "p", uid: "u" };
const started = { about, type: "Normal", reason: "Started", message: "Container started", host: "node-1" } as const;

function fixture() {
  const requests: { verb: string; body: any }[] = [];
  const errors: unknown[] = [];
  const answers: { failure: Error | undefined } = { failure: undefined };
  const take = async (verb: string, body: unknown): Promise<any> => {
    requests.push({ verb, body });
    const { failure } = answers;
    answers.failure = undefined;
    if (failure !== undefined) throw failure;
  };
  const client: Pick<Client, "create" | "patch"> = {
    create: (_type, object) => take("create", object),
    patch: (_type, { name }, patch) => take(`patch ${name}`, patch),
  };
  const onError = (error: unknown) => errors.push(error);
  const recorder = clientEventRecorder({ client, clock: new ManualClock(), component: "kubelet", onError });
  return { recorder, requests, errors, answers };
}

test("an Event names the node that reports it", async () => {
  const { recorder, requests } = fixture();
  recorder.record(started);
  await settle();
  expect(requests).toMatchObject([
    {
      verb: "create",
      body: {
        metadata: { namespace: "n" },
        involvedObject: about,
        source: { component: "kubelet", host: "node-1" },
        reportingComponent: "kubelet",
        reportingInstance: "node-1",
        count: 1,
      },
    },
  ]);
});

test("an Event that occurs again is counted, and created anew if it has expired", async () => {
  const { recorder, requests, answers } = fixture();
  recorder.record(started);
  recorder.record(started);
  await settle();
  const name = requests[0]?.body.metadata.name;
  expect(requests[1]).toMatchObject({ verb: `patch ${name}`, body: { kind: "strategic", document: { count: 2 } } });
  answers.failure = status.notFound({ group: "", resource: "events", name });
  recorder.record(started);
  await settle();
  expect(requests.slice(2)).toMatchObject([{ verb: `patch ${name}` }, { verb: "create", body: { count: 3 } }]);
});

test("an Event that the server refuses or does not answer is dropped without a word", async () => {
  const { recorder, requests, errors, answers } = fixture();
  answers.failure = status.forbidden({ group: "", resource: "events", name: "" }, "terminating");
  recorder.record(started);
  await settle();
  answers.failure = new NoAnswerError("cut");
  recorder.record({ ...started, reason: "Killing" });
  await settle();
  expect(errors).toEqual([]);
  expect(requests.length).toBe(2);
});
