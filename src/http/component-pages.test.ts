import { expect, test } from "bun:test";
import type { Clock } from "../process/clock.ts";
import type { Exchange, HeaderList, Reply } from "../request/exchange.ts";
import { componentPages } from "./component-pages.ts";
import { gitVersion } from "./version.ts";

const startedMs = Date.UTC(2026, 10, 2, 20, 49, 31);
let steadyMs = 1_000;
const pages = componentPages({
  clock: { nowMs: () => startedMs, steadyMs: () => steadyMs } as Clock,
  flags: () =>
    new Map([
      ["v", "0"],
      ["audit-log-path", ""],
    ]),
});
steadyMs += 3_725_900;
const version = gitVersion.slice(1).split("+")[0];
const warnings: string[] = [];

async function ask(path: string, accept?: string): Promise<{ headers: HeaderList; text: string }> {
  const headers = accept === undefined ? [] : [["accept", accept]];
  const exchange = { request: { headers }, warnings } as unknown as Exchange;
  const answer = (await pages.find(({ paths }) => paths.includes(path))?.handle(exchange)) as Reply;
  return { headers: answer.headers, text: new TextDecoder().decode(answer.body as Uint8Array) };
}

test("/statusz is text for people, in the layout of upstream", async () => {
  const { headers, text } = await ask("/statusz");
  expect(headers).toContainEqual(["content-type", "text/plain; charset=utf-8"]);
  expect(text).toBe(`
apiserver statusz
Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.

Started: Mon Nov  2 20:49:31 UTC 2026
Up: 1 hr 02 min 05 sec
Go version: bun${Bun.version}
Binary version: ${version}
Emulation version: 1.36
Paths: /flagz /healthz /livez /metrics /readyz /statusz /version
`);
  expect((await ask("/statusz", "text/html, */*;q=0.1")).text).toBe(text);
});

test("/statusz and /flagz are documents for clients that name the kind", async () => {
  const statusz = await ask("/statusz", "application/json;as=Statusz;v=v1beta1;g=config.k8s.io");
  expect(statusz.headers).toContainEqual(["content-type", "application/json;g=config.k8s.io;v=v1beta1;as=Statusz"]);
  expect(JSON.parse(statusz.text)).toMatchObject({
    kind: "Statusz",
    apiVersion: "config.k8s.io/v1beta1",
    metadata: { name: "apiserver" },
    startTime: "2026-11-02T20:49:31Z",
    uptimeSeconds: 3_725,
    binaryVersion: version,
  });
  expect(warnings).toEqual([]);
  const flagz = await ask("/flagz", "application/yaml;as=Flagz;v=v1alpha1;g=config.k8s.io");
  expect(Bun.YAML.parse(flagz.text)).toMatchObject({ kind: "Flagz", flags: { "audit-log-path": "", v: "0" } });
  expect(warnings).toEqual(["This version of the flagz endpoint is deprecated. Please use a newer version."]);
});

test("/flagz lists the flags in order", async () => {
  expect((await ask("/flagz")).text).toEndWith("debugging purposes only.\naudit-log-path \nv 0\n");
});

test.each(["application/json", "text/html", "application/json;as=Flagz;v=v1beta1;g=config.k8s.io"])(
  "nothing else is served: %s",
  async (accept) => {
    await expect(ask("/statusz", accept)).rejects.toThrow(
      "only the following media types are accepted: application/json, application/yaml, text/plain",
    );
  },
);
