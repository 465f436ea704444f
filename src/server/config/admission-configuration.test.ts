import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readAdmissionConfiguration } from "./admission-configuration.ts";

const folder = mkdtempSync(join(tmpdir(), "admission-"));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, value: unknown): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(value));
  return file;
}

const apiVersion = "apiserver.config.k8s.io/v1";
const webhooks = (kubeConfigFile: string) => ({ apiVersion, kind: "WebhookAdmissionConfiguration", kubeConfigFile });
const written = (...plugins: unknown[]) => write("config", { apiVersion, kind: "AdmissionConfiguration", plugins });

test("the kubeconfig of each plugin stands in the file or in one beside it", () => {
  write("validating", webhooks("/b"));
  const file = written(
    { name: "MutatingAdmissionWebhook", configuration: webhooks("/a") },
    { name: "ValidatingAdmissionWebhook", path: "validating" },
  );
  expect(readAdmissionConfiguration(file)).toEqual({
    MutatingAdmissionWebhook: "/a",
    ValidatingAdmissionWebhook: "/b",
  });
});

test.each<[plugin: unknown, text: string]>([
  [{ name: "MutatingAdmissionWebhook" }, "give the configuration or its path"],
  [{ name: "Other", path: "x" }, "Unsupported value"],
  [{ name: "MutatingAdmissionWebhook", configuration: webhooks("a") }, "must be an absolute file path"],
  [{ name: "MutatingAdmissionWebhook", path: "missing" }, "no such file"],
])("%j is refused", (plugin, text) => {
  expect(() => readAdmissionConfiguration(written(plugin))).toThrow(text);
});
