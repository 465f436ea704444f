import { expect, test } from "bun:test";
import { attributes } from "../admission/testing.ts";
import { type AdmissionPlugin, admissionChain } from "./admission.ts";

test("a plugin that asks for it has all mutating plugins run once more", async () => {
  const ran: string[] = [];
  const plugins: AdmissionPlugin[] = [
    { name: "a", admit: ({ reinvocation }) => void ran.push(`a ${reinvocation.isRepeat}`) },
    {
      name: "b",
      admit({ reinvocation }) {
        ran.push("b");
        reinvocation.request();
      },
      validate: () => void ran.push("validate"),
    },
  ];
  const chain = admissionChain(plugins);
  const request = attributes("/pods", {});
  await chain.admit(request);
  await chain.validate(request);
  expect(ran).toEqual(["a false", "b", "a true", "b", "validate"]);
});

test("connections pass only the plugins that see them", async () => {
  const ran: string[] = [];
  const plugins: AdmissionPlugin[] = [
    { name: "a", admit: () => void ran.push("a") },
    { name: "b", seesConnections: true, admit: () => void ran.push("b"), validate: () => void ran.push("b too") },
  ];
  const chain = admissionChain(plugins);
  const request = attributes("/pods", { operation: "CONNECT", subresource: "exec" });
  await chain.admit(request);
  await chain.validate(request);
  expect(ran).toEqual(["b", "b too"]);
});

test("an observer hears of each plugin and of each step, and which of them refuses", async () => {
  const heard: string[] = [];
  const plugins: AdmissionPlugin[] = [
    { name: "a", admit: () => undefined, validate: () => undefined },
    { name: "b", validate: () => Promise.reject(new Error("no")) },
    { name: "c", validate: () => undefined },
  ];
  const chain = admissionChain(plugins, {
    pluginTimer: (step, name) => (_operation, _ms, isRejected) => void heard.push(`${name} ${step} ${isRejected}`),
    stepTimer: (step) => (operation, _ms, isRejected) => void heard.push(`${step} ${operation} ${isRejected}`),
  });
  const request = attributes("/pods", {});
  await chain.admit(request);
  await expect(chain.validate(request)).rejects.toThrow("no");
  expect(heard).toEqual([
    "a admit false",
    "admit CREATE false",
    "a validate false",
    "b validate true",
    "validate CREATE true",
  ]);
});
