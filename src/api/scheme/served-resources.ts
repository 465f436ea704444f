import type { ResourceInfo } from "./resource.ts";

/** The built-in resources that are served. */
export interface ServedResources {
  readonly resources: readonly ResourceInfo[];
  find(group: string, version: string, resource: string): ResourceInfo | undefined;
}
