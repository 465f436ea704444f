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
