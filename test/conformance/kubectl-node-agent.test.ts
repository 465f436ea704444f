import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { NodeAgent } from "../integration/node-agent.ts";
import { ownAddress } from "../integration/own-address.ts";
import { pod, TestServer } from "../integration/server.ts";
import { Kubectl } from "./kubectl.ts";

let server: TestServer;
let agent: NodeAgent;
let kubectl: Kubectl;
beforeAll(async () => {
  [server, agent] = await Promise.all([TestServer.start(), NodeAgent.start(ownAddress())]);
  kubectl = await Kubectl.open(server.running.kubeconfig);
  await agent.register(server, "n1", ownAddress());
  const pods = "/api/v1/namespaces/default/pods";
  await Bun.sleep(0);
  const two = {
    containers: [
      { name: "a", image: "i" },
      { name: "b", image: "i" },
    ],
  };
  await kubectl.ok(["wait", "serviceaccount/default", "--for=create", "--timeout=5s"]);
  await server.create(pods, pod("bound", { nodeName: "n1" }));
  await server.create(pods, pod("two", { nodeName: "n1", ...two }));
  await server.create(pods, pod("free"));
});
afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await agent[Symbol.asyncDispose]();
  await server.close();
});

describe("logs", () => {
  test("are printed as the node's agent has them", async () => {
    agent.answer = (_request, response) => response.end("line 1\nline 2\n");
    expect(await kubectl.ok(["logs", "bound", "--tail=2"])).toBe("line 1\nline 2\n");
    expect(agent.seen.at(-1)?.url).toBe("/containerLogs/default/bound/main?tailLines=2");
    expect(await kubectl.ok(["logs", "two", "-c", "b", "--timestamps", "--since=1m"])).toBe("line 1\nline 2\n");
    expect(agent.seen.at(-1)?.url).toBe("/containerLogs/default/two/b?timestamps=true&sinceSeconds=60");
  });

  test("that are followed arrive while they are written", async () => {
    agent.answer = (_request, response) => response.write("first\n");
    await using following = kubectl.start(["logs", "-f", "bound"]);
    expect(await following.until((printed) => printed.includes("first"))).toBe("first\n");
  });

  test("of a pod that waits for a node are empty, of an unknown container an error", async () => {
    expect(await kubectl.ok(["logs", "free"])).toBe("");
    expect(await kubectl.refused(["logs", "bound", "-c", "x"])).toContain("container x is not valid for pod bound");
  });
});

describe("exec", () => {
  test("that the agent refuses says why", async () => {
    agent.upgrade = (_request, socket) => {
      const text = "container not found";
      socket.end(`HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
    };
    expect(await kubectl.refused(["exec", "bound", "--", "date"])).toContain("container not found");
    expect(agent.seen.at(-1)?.url).toStartWith("/exec/default/bound/main?");
    expect(agent.seen.at(-1)?.url).toContain("command=date");
  });

  test("over a WebSocket carries output, and the exit code of the command", async () => {
    agent.upgrade = (request, socket) => {
      const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const accept = new Bun.CryptoHasher("sha1").update(key).digest("base64");
      const status = {
        metadata: {},
        status: "Failure",
        reason: "NonZeroExitCode",
        details: { causes: [{ reason: "ExitCode", message: "7" }] },
      };
      socket.write(
        [
          "HTTP/1.1 101 Switching Protocols",
          "connection: Upgrade",
          "upgrade: websocket",
          `sec-websocket-accept: ${accept}`,
          "sec-websocket-protocol: v5.channel.k8s.io",
          "\r\n",
        ].join("\r\n"),
      );
      socket.write(frame(1, "Mon Jan  1\n"));
      socket.write(frame(2, "a warning\n"));
      socket.write(frame(3, JSON.stringify(status)));
      socket.end(Buffer.from([0x88, 0x02, 0x03, 0xe8]));
    };
    const { code, stdout, stderr } = await kubectl.run(["exec", "bound", "--", "date"]);
    expect({ code, stdout }).toEqual({ code: 7, stdout: "Mon Jan  1\n" });
    expect(stderr).toContain("a warning");
  });

  test("of a pod that waits for a node is refused", async () => {
    expect(await kubectl.refused(["exec", "free", "--", "date"])).toContain("pod free does not have a host assigned");
  });
});

test("debug adds an ephemeral container, and no other change comes with it", async () => {
  await kubectl.ok(["debug", "bound", "--image=busybox", "-c", "look", "--profile=general", "--attach=false"]);
  const { spec } = await kubectl.get(["pod", "bound"]);
  expect(spec.ephemeralContainers).toMatchObject([{ name: "look", image: "busybox" }]);
  expect(spec.containers).toHaveLength(1);
});

test("the agent of a node is reached through the proxy", async () => {
  agent.answer = (request, response) => response.end(`at ${request.url}`);
  expect(await kubectl.ok(["get", "--raw", "/api/v1/nodes/n1/proxy/stats/summary?x=1"])).toBe("at /stats/summary?x=1");
});

/** A binary WebSocket message on a channel. */
function frame(channel: number, text: string): Buffer {
  const payload = Buffer.concat([Buffer.from([channel]), Buffer.from(text)]);
  const head = payload.length < 126 ? [0x82, payload.length] : [0x82, 126, payload.length >> 8, payload.length & 0xff];
  return Buffer.concat([Buffer.from(head), payload]);
}
