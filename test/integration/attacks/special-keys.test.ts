import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { pod, TestServer } from "../server.ts";

let server: TestServer;
let namespace: string;
let configMaps: string;

beforeAll(async () => {
  server = await TestServer.start();
  namespace = await server.namespace();
  configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
});
afterAll(() => server.close());

describe("attack 75: keys that are special in JavaScript are keys like any other", () => {
  const special = ["constructor", "toString", "hasOwnProperty", "valueOf"];

  test("of labels, and in selectors", async () => {
    const labels = Object.fromEntries(special.map((name) => [name, "yes"]));
    await server.create(configMaps, { metadata: { name: "special", labels } });
    await server.create(configMaps, { metadata: { name: "plain" } });
    const namesBy = async (selector: string) => {
      const { json } = await server.get(`${configMaps}?labelSelector=${encodeURIComponent(selector)}`);
      return json.items.map(({ metadata }: any) => metadata.name);
    };
    for (const name of special) {
      expect(await namesBy(name)).toEqual(["special"]);
      expect(await namesBy(`!${name}`)).not.toContain("special");
      expect(await namesBy(`${name}=yes`)).toEqual(["special"]);
    }
  });

  test("of data, annotations and node selectors, which come back as they were sent", async () => {
    const names = [...special, "__proto__"];
    const text = `{${names.map((name) => `"${name}":"a"`)}}`;
    const { code, json } = await server.post(configMaps, `{"metadata":{"name":"keys"},"data":${text}}`);
    expect([code, Object.keys(json.data).sort()]).toEqual([201, names.toSorted()]);
    const read = await server.get(`${configMaps}/keys`);
    for (const name of names) expect(read.text).toContain(`"${name}":"a"`);
    const nodeSelector = Object.fromEntries(special.map((name) => [name, "a"]));
    const made = await server.create(`/api/v1/namespaces/${namespace}/pods`, pod("picky", { nodeSelector }));
    expect(made.spec.nodeSelector).toEqual(nodeSelector);
  });

  test.each([...special, "__proto__"])("a resource, a group and a field named %s do not exist", async (name) => {
    expect((await server.get(`/api/v1/${name}`)).code).toBe(404);
    expect((await server.get(`/apis/${name}/v1`)).code).toBe(404);
    expect((await server.get(`/${name}`)).code).toBe(404);
    expect(
      (await server.post(`${configMaps}?fieldValidation=Strict`, `{"metadata":{"name":"a"},"${name}":1}`)).code,
    ).toBe(400);
  });

  test("nothing has changed the prototype of objects", () => {
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as Record<string, unknown>)["a"]).toBeUndefined();
  });
});
