import { expect, test } from "bun:test";
import type { JsonObject } from "../../../api/json.ts";
import { refusal } from "../../testing.ts";

const field = "spec.securityContext.windowsOptions";

function refusalOf(windowsOptions: JsonObject, rest: JsonObject = {}): Promise<string[]> {
  const spec = {
    os: { name: "windows" },
    securityContext: { windowsOptions },
    containers: [{ name: "c", image: "i" }],
  };
  return refusal("v1/pods", { spec: { ...spec, ...rest } });
}

test.each(["user", "DOMAIN\\user", "domain.example.com\\user"])("the user may be %p", async (runAsUserName) => {
  expect(await refusalOf({ runAsUserName })).toEqual([]);
});

test.each([
  ["", "runAsUserName cannot be an empty string"],
  ["a\\b\\c", "runAsUserName cannot contain more than one backslash"],
  ["a\u0001", "runAsUserName cannot contain control characters"],
  ["a*\\b", "runAsUserName's Domain doesn't match the NetBios nor the DNS format"],
  ["a\\", "runAsUserName's User cannot be empty"],
  ["...", "runAsUserName's User cannot contain only periods or spaces"],
  ["a+b", "runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"],
  ["u".repeat(105), "runAsUserName's User length must not be longer than 104 characters"],
])("the user may not be %j", async (runAsUserName, problem) => {
  const [cause = "", ...others] = await refusalOf({ runAsUserName });
  expect(cause).toStartWith(`${field}.runAsUserName: Invalid value: `);
  expect(cause).toEndWith(`: ${problem}`);
  expect(others).toEqual([]);
});

test("a host process shares the network of its host with all containers of its pod", async () => {
  const hostProcess = { hostProcess: true };
  expect(await refusalOf(hostProcess, { hostNetwork: true })).toEqual([]);
  expect(await refusalOf(hostProcess)).toEqual([
    "spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers",
  ]);
  const own = { name: "c", image: "i", securityContext: { windowsOptions: { hostProcess: false } } };
  expect(await refusalOf(hostProcess, { hostNetwork: true, containers: [own] })).toEqual([
    "spec.containers[0].securityContext.windowsOptions.hostProcess: Invalid value: false: pod hostProcess value must be identical if both are specified, was true",
  ]);
});

test("settings that exist only on Linux are refused", async () => {
  const securityContext = { runAsUser: 1, seccompProfile: { type: "RuntimeDefault" } };
  const containers = [{ name: "c", image: "i", securityContext: { privileged: true } }];
  expect(await refusalOf({}, { hostPID: true, securityContext, containers })).toEqual([
    "spec.hostPID: Forbidden: cannot be set for a windows pod",
    "spec.securityContext.seccompProfile: Forbidden: cannot be set for a windows pod",
    "spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod",
    "spec.containers[0].securityContext.privileged: Forbidden: cannot be set for a windows pod",
  ]);
});
