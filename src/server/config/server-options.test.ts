import { describe, expect, test } from "bun:test";
import { StartupError } from "../../process/startup-error.ts";
import { flagNames, flags, optionName } from "./flags.ts";
import { parseFlag } from "./parse-flag.ts";
import { resolveOptions } from "./server-options.ts";

describe("resolveOptions()", () => {
  test("fills in the defaults", () => {
    const config = resolveOptions({}, { XDG_DATA_HOME: "/data" });
    expect(config).toMatchObject({
      bindAddress: "127.0.0.1",
      securePort: 6443,
      dataDir: "/data/quorate",
      kubeconfig: "/data/quorate/kubeconfig",
      inMemory: false,
      authentication: { anonymous: true },
      authorization: { modes: ["Node", "RBAC"], configFile: undefined },
      historyRetentionDurationMs: 300_000,
      requestTimeoutMs: 60_000,
      minRequestTimeoutMs: 1_800_000,
      maxRequestsInflight: 400,
      maxMutatingRequestsInflight: 200,
      eventTtlMs: 3_600_000,
      verbosity: 0,
    });
  });

  test.each([
    [{}, 600],
    [{ maxRequestsInflight: 0, maxMutatingRequestsInflight: 5 }, 5],
    [{ enablePriorityAndFairness: false }, undefined],
    [{ enablePriorityAndFairness: false, maxRequestsInflight: 0, maxMutatingRequestsInflight: 0 }, undefined],
  ])("the seats of %p are %p", (options, seats) => {
    expect(resolveOptions(options, {}).fairSeats).toBe(seats);
  });

  test("serving processes share the limits of requests, and keep each above zero", () => {
    const { servingProcesses, maxRequestsInflight, maxMutatingRequestsInflight, fairSeats } = resolveOptions(
      { servingProcesses: 3, maxMutatingRequestsInflight: 2 },
      {},
    );
    expect({ servingProcesses, maxRequestsInflight, maxMutatingRequestsInflight, fairSeats }).toEqual({
      servingProcesses: 3,
      maxRequestsInflight: 100,
      maxMutatingRequestsInflight: 1,
      fairSeats: 101,
    });
    expect(resolveOptions({ servingProcesses: 3, maxRequestsInflight: 0 }, {}).maxRequestsInflight).toBe(0);
  });

  test("a server in memory has no log for serving processes", () => {
    expect(() => resolveOptions({ servingProcesses: 1, inMemory: true }, {})).toThrow(
      new StartupError("--serving-processes needs a data directory, and --in-memory has none: give only one"),
    );
  });

  test("fairness needs seats", () => {
    expect(() => resolveOptions({ maxRequestsInflight: 0, maxMutatingRequestsInflight: 0 }, {})).toThrow(
      new StartupError(
        "--max-requests-inflight and --max-mutating-requests-inflight are both 0: give one of them a value above 0, or " +
          "turn fairness off with --enable-priority-and-fairness=false",
      ),
    );
  });

  test.each([
    [{}, { name: expect.any(String), peerAddress: undefined, clientUrl: undefined }, "127.0.0.1", [] as string[]],
    [
      { peerAddress: "10.0.0.1:7380", memberName: "a" },
      { name: "a", peerAddress: { host: "10.0.0.1", port: 7380 }, clientUrl: undefined },
      "10.0.0.1",
      ["10.0.0.1"],
    ],
    [
      {
        peerAddress: "[fd00::1]:7380",
        advertiseClientUrl: "https://a.example:6443",
        tlsSan: ["lb.example", "fd00::9"],
      },
      { peerAddress: { host: "fd00::1", port: 7380 }, clientUrl: "https://a.example:6443" },
      "0.0.0.0",
      ["a.example", "lb.example", "fd00::9"],
    ],
    [{ peerAddress: "10.0.0.1:7380", bindAddress: "127.0.0.1" }, {}, "127.0.0.1", ["10.0.0.1"]],
    [
      { peerAddress: "a:7380", gossipAddress: "b:7390" },
      { gossip: true, gossipAddress: { host: "b", port: 7390 } },
      "0.0.0.0",
      ["a"],
    ],
    [{ peerAddress: "a:65535", gossip: false }, { gossip: false, gossipAddress: undefined }, "0.0.0.0", ["a"]],
  ])("makes a member of %p", (options, membership, bindAddress, servingHosts) => {
    expect(resolveOptions(options, {})).toMatchObject({ membership, bindAddress, servingHosts });
  });

  test("refuses anonymous requests where everything is allowed", () => {
    const { authentication } = resolveOptions({ authorizationMode: ["RBAC", "AlwaysAllow"] }, {});
    expect(authentication.anonymous).toBe(false);
  });

  test("ignores a relative XDG_DATA_HOME", () => {
    expect(resolveOptions({}, { XDG_DATA_HOME: "data" }).dataDir).toMatch(/\/\.local\/share\/quorate$/);
  });

  test("has no data directory and no kubeconfig file in memory", () => {
    expect(resolveOptions({ inMemory: true }, { XDG_DATA_HOME: "/data" })).toMatchObject({
      dataDir: undefined,
      kubeconfig: undefined,
    });
    expect(resolveOptions({ inMemory: true, kubeconfig: "/tmp/k" }).kubeconfig).toBe("/tmp/k");
  });

  test.each([
    [{ tlsCertFile: "/a" }, /belong together/],
    [{ securePort: 65_536 }, /--secure-port: 65536 is not between 0 and 65535/],
    [{ securePort: Number.NaN }, /--secure-port/],
    [{ requestTimeoutMs: -1 }, /--request-timeout/],
    [{ dataDir: "" }, /--data-dir: the value is empty/],
    [{ authorizationMode: ["Nobody"] }, /"Nobody" is not one of ABAC, AlwaysAllow, AlwaysDeny/],
    [{ authorizationMode: ["AlwaysDeny", "AlwaysDeny"] }, /named twice/],
    [{ authorizationMode: [] }, /--authorization-mode/],
    [{ inMemory: true, dataDir: "/d" }, /^--in-memory keeps nothing on disk, .*: give only one$/],
    [{ authorizationMode: ["ABAC"] }, /ABAC needs --authorization-policy-file/],
    [{ authorizationMode: ["Webhook"] }, /Webhook needs --authorization-webhook-config-file/],
    [{ authorizationPolicyFile: "/p" }, /has no effect without ABAC/],
    [{ authorizationConfig: "/c", authorizationMode: ["RBAC"] }, /can not be specified when --authorization-mode/],
    [{ authorizationConfig: "/c", authorizationWebhookCacheAuthorizedTtlMs: 1 }, /leave --authorization-webhook-cache/],
    [{ peerAddress: "10.0.0.1" }, /--peer-address: "10\.0\.0\.1" is not <host>:<port>/],
    [{ peerAddress: "a:1", inMemory: true }, /--peer-address: .* omit --in-memory/],
    [{ advertiseClientUrl: "https://a:1" }, /--advertise-client-url is for members of a cluster: give --peer-address/],
    [{ peerAddress: "a:1", advertiseClientUrl: "a:1" }, /--advertise-client-url: "a:1" is not https:/],
    [{ gossipAddress: "a:1" }, /--gossip-address is for members of a cluster: give --peer-address/],
    [{ peerAddress: "a:1", gossipAddress: "a:2", gossip: false }, /--gossip-address .*: leave --gossip=false out/],
    [{ peerAddress: "a:1", gossipAddress: "a" }, /--gossip-address: "a" is not <host>:<port>/],
    [{ peerAddress: "a:1", gossipAddress: "a:1" }, /--gossip-address equals --peer-address: give another port/],
    [{ peerAddress: "a:65535" }, /--gossip-address: there is no port 1000 above that of --peer-address: give one/],
    [{ memberName: "A b" }, /--member-name: "A b" is not a name/],
    [{ tlsSan: ["a b"] }, /--tls-san: "a b" is neither a name nor an address/],
    [{ featureGates: { Nonsense: true } }, /unknown feature gate/],
    [{ runtimeConfig: { nonsense: true } }, /--runtime-config/],
  ])("refuses %p", (options, message) => {
    expect(() => resolveOptions(options, {})).toThrow(StartupError);
    expect(() => resolveOptions(options, {})).toThrow(message);
  });
});

describe("parseFlag()", () => {
  test.each([
    ["secure-port", "0", 0],
    ["secure-port", "65535", 65_535],
    ["in-memory", "true", true],
    ["in-memory", "FALSE", false],
    ["request-timeout", "1m30s", 90_000],
    ["min-request-timeout", "30", 30_000],
    ["authorization-mode", "AlwaysDeny,AlwaysAllow", ["AlwaysDeny", "AlwaysAllow"]],
    ["feature-gates", "A=true,B=false", { A: true, B: false }],
    ["runtime-config", "v1,a.dev/v1=false", { v1: true, "a.dev/v1": false }],
    ["data-dir", "/x", "/x"],
  ] as const)("reads --%s %s", (name, text, value) => {
    expect(parseFlag(name, flags[name], text, undefined)).toEqual(value as never);
  });

  test.each([
    ["secure-port", "65536"],
    ["secure-port", "-1"],
    ["secure-port", "0x10"],
    ["secure-port", ""],
    ["in-memory", "maybe"],
    ["request-timeout", "5"],
    ["request-timeout", "-5s"],
    ["authorization-mode", "Rbac"],
    ["feature-gates", "A"],
    ["feature-gates", "A=maybe"],
    ["feature-gates", "=true"],
    ["data-dir", ""],
  ] as const)("refuses --%s %p and names the flag", (name, text) => {
    expect(() => parseFlag(name, flags[name], text, undefined)).toThrow(`--${name}: `);
  });

  test("merges repeated switches, later ones win", () => {
    const first = parseFlag("feature-gates", flags["feature-gates"], "A=true,B=true", undefined);
    expect(parseFlag("feature-gates", flags["feature-gates"], "B=false,__proto__=true", first)).toEqual(
      Object.fromEntries([
        ["A", true],
        ["B", false],
        ["__proto__", true],
      ]),
    );
  });
});

test("every flag has its own option name", () => {
  expect(new Set(flagNames.map(optionName)).size).toBe(flagNames.length);
  expect(optionName("min-request-timeout")).toBe("minRequestTimeoutMs");
  expect(optionName("max-mutating-requests-inflight")).toBe("maxMutatingRequestsInflight");
  expect(optionName("v")).toBe("verbosity");
});
