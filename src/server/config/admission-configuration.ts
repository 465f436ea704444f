import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { parseConfigurationFile } from "../../api/codec/configuration-file.ts";
import { stringifyJson } from "../../api/codec/json.ts";
import { fieldError } from "../../api/field-error.ts";
import { type JsonObject, type JsonValue } from "../../api/json.ts";
import { objectOf } from "../../api/json-reading.ts";
import { StartupError } from "../../process/startup-error.ts";

/** Plugins that accept a configuration. */
const webhookPlugins = ["MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"] as const;
export type WebhookPlugin = (typeof webhookPlugins)[number];

/** Kubeconfigs with credentials for webhooks, by plugin. */
export type WebhookKubeconfigs = Partial<Readonly<Record<WebhookPlugin, string>>>;

interface PluginEntry {
  readonly name: WebhookPlugin;
  /** A configuration, or the file that holds it. */
  readonly source: JsonObject | string;
}

/**
 * Reads an AdmissionConfiguration. Paths in it are relative to its folder.
 * @throws StartupError that names the problem
 */
export function readAdmissionConfiguration(file: string): WebhookKubeconfigs {
  const flag = `--admission-control-config-file: ${file}`;
  try {
    const entries = parseAdmissionConfiguration(readFileSync(file));
    return Object.fromEntries(
      entries.flatMap(({ name, source }) => {
        const bytes =
          typeof source === "string" ? readFileSync(pathFrom(dirname(file), source)) : stringifyJson(source);
        const kubeconfig = parseWebhookConfiguration(typeof bytes === "string" ? Buffer.from(bytes) : bytes);
        return kubeconfig === "" ? [] : [[name, kubeconfig]];
      }),
    );
  } catch (error) {
    throw new StartupError(`${flag}: ${(error as Error).message}`);
  }
}

function parseAdmissionConfiguration(bytes: Uint8Array): readonly PluginEntry[] {
  const kind = "AdmissionConfiguration";
  return parseConfigurationFile(bytes, { kind, versions: ["v1"], fields: ["plugins"] }, (value, check) => {
    const plugins: readonly JsonValue[] = Array.isArray(value["plugins"]) ? value["plugins"] : [];
    return plugins.flatMap((entry, at): PluginEntry[] => {
      const field = `plugins[${at}]`;
      const plugin = objectOf(entry);
      check.fields(plugin, field, ["name", "path", "configuration"]);
      const name = check.choice(plugin, field, "name", webhookPlugins);
      const path = check.text(plugin, field, "path");
      const configuration = check.object(plugin, field, "configuration");
      if (configuration !== undefined) return [{ name, source: configuration }];
      if (path !== "") return [{ name, source: path }];
      check.errors.push(fieldError.required(field, "give the configuration or its path"));
      return [];
    });
  });
}

/** Returns the path of the kubeconfig, "" for none. */
function parseWebhookConfiguration(bytes: Uint8Array): string {
  const kind = "WebhookAdmissionConfiguration";
  return parseConfigurationFile(bytes, { kind, versions: ["v1"], fields: ["kubeConfigFile"] }, (value, check) => {
    const file = check.text(value, "", "kubeConfigFile");
    if (file !== "" && !isAbsolute(file)) {
      check.errors.push(fieldError.invalid("kubeConfigFile", file, "must be an absolute file path"));
    }
    return file;
  });
}

function pathFrom(folder: string, path: string): string {
  return isAbsolute(path) ? path : join(folder, path);
}
