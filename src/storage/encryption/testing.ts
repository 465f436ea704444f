import { parseEncryptionConfiguration } from "./encryption-configuration.ts";
import { ResourceTransformers } from "./resource-transformers.ts";

/** Returns a provider with one key, whose bytes all equal `byte`. */
export function provider(kind: string, name: string, byte: number): object {
  return { [kind]: { keys: [{ name, secret: Buffer.alloc(32, byte).toString("base64") }] } };
}

/** Returns the configuration file of some resources with providers. */
export function configurationFile(...entries: [resources: string[], providers: object[]][]): string {
  const resources = entries.map(([names, providers]) => ({ resources: names, providers }));
  return JSON.stringify({ apiVersion: "apiserver.config.k8s.io/v1", kind: "EncryptionConfiguration", resources });
}

/** Returns the transformers of a configuration; without entries, those of none. */
export function transformersOf(...entries: Parameters<typeof configurationFile>): ResourceTransformers {
  if (entries.length === 0) return new ResourceTransformers();
  return new ResourceTransformers(parseEncryptionConfiguration(Buffer.from(configurationFile(...entries))));
}
