import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { pod, TestServer } from "./server.ts";

let server: TestServer;
let root: string;
beforeAll(async () => {
  server = await TestServer.start();
  root = `/api/v1/namespaces/${await server.namespace()}`;
});
afterAll(() => server.close());

function binding(name: string, more: object = {}): object {
  return { metadata: { name }, target: { kind: "Node", name: "n1" }, ...more };
}

describe("a binding", () => {
  test.each(["pods/%/binding", "bindings"])(
    "to %s puts the pod on the node and answers with a Status",
    async (path) => {
      const name = path === "bindings" ? "old" : "new";
      const { spec, metadata } = await server.create(
        `${root}/pods`,
        pod(name, {}, { annotations: { a: "1", b: "1" } }),
      );
      const body = binding(name, { metadata: { name, annotations: { b: "2" }, labels: { zone: "z" } } });
      const { code, json } = await server.post(`${root}/${path.replace("%", name)}`, body);
      expect({ code, json }).toEqual({
        code: 201,
        json: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 },
      });
      const { json: bound } = await server.get(`${root}/pods/${name}`);
      expect(bound.spec).toEqual({ ...spec, nodeName: "n1" });
      expect(bound.status.conditions).toEqual([
        expect.objectContaining({ type: "PodScheduled", status: "True", lastTransitionTime: expect.any(String) }),
      ]);
      expect({ annotations: bound.metadata.annotations, labels: bound.metadata.labels }).toEqual({
        annotations: { a: "1", b: "2" },
        labels: { zone: "z" },
      });
      expect(bound.metadata.generation).toBe(metadata.generation);
      const { json: listed } = await server.get(
        `${root}/pods?fieldSelector=spec.nodeName%3Dn1,metadata.name%3D${name}`,
      );
      expect(listed.items).toHaveLength(1);
    },
  );

  test("of a bound, a gated and a terminating pod is a conflict with the reason", async () => {
    await server.create(`${root}/pods`, pod("bound"));
    expect((await server.post(`${root}/pods/bound/binding`, binding("bound"))).code).toBe(201);
    await server.create(`${root}/pods`, pod("gated", { schedulingGates: [{ name: "example.com/wait" }] }));
    await server.create(`${root}/pods`, pod("going", {}, { finalizers: ["example.com/hold"] }));
    await server.delete(`${root}/pods/going`);
    const cases = [
      ["bound", 'pod bound is already assigned to node "n1"'],
      ["gated", "pod gated has non-empty .spec.schedulingGates"],
      ["going", "pod going is being deleted, cannot be assigned to a host"],
    ] as const;
    for (const [name, why] of cases) {
      const { code, json } = await server.post(`${root}/pods/${name}/binding`, binding(name));
      expect({ code, reason: json.reason, message: json.message }).toEqual({
        code: 409,
        reason: "Conflict",
        message: `Operation cannot be fulfilled on pods/binding "${name}": ${why}`,
      });
    }
  });

  test.each([
    [{ metadata: { name: "other" } }, 400, "name in URL does not match name in Binding object"],
    [
      { target: { kind: "Minion", name: "n1" } },
      500,
      'target.kind: Unsupported value: "Minion": supported values: "Node", "<empty>"',
    ],
    [{ target: {} }, 500, "target.name: Required value"],
    [
      { metadata: { name: "free", uid: "x" } },
      409,
      "Precondition failed: UID in precondition: x, UID in object meta: ",
    ],
    [{ metadata: { name: "free", namespace: "other" } }, 400, "the namespace of the provided object does not match"],
  ])("refuses %j", async (more, code, message) => {
    await server.post(`${root}/pods`, pod("free"));
    const answer = await server.post(`${root}/pods/free/binding`, binding("free", more));
    expect({ code: answer.code, message: answer.json.message }).toEqual({
      code,
      message: expect.stringContaining(message),
    });
  });

  test("of a missing pod is 404, as a dry run changes nothing, and is raced for by one only", async () => {
    expect((await server.post(`${root}/pods/none/binding`, binding("none"))).code).toBe(404);
    await server.create(`${root}/pods`, pod("raced"));
    expect((await server.post(`${root}/pods/raced/binding?dryRun=All`, binding("raced"))).code).toBe(201);
    expect((await server.get(`${root}/pods/raced`)).json.spec.nodeName).toBeUndefined();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        server.post(`${root}/pods/raced/binding`, binding("raced", { target: { kind: "Node", name: `n${at}` } })),
      ),
    );
    expect(answers.filter(({ code }) => code === 201)).toHaveLength(1);
    expect(answers.filter(({ code }) => code === 409)).toHaveLength(7);
  });

  test("is only ever posted", async () => {
    expect((await server.get(`${root}/bindings`)).code).toBe(405);
    expect((await server.get(`${root}/pods/free/binding`)).code).toBe(405);
  });
});
