import type { JsonObject } from "../../json.ts";
import type { Cells } from "./cells.ts";
import { firstFew, numberIn, structIn, structsIn, textIn } from "./reading.ts";

/** Kinds about the cluster itself that have no more to show than a field or two. */

const versionsShownMax = 3;

export function priorityClassCells(priorityClass: JsonObject): Cells {
  return {
    Value: numberIn(priorityClass, "value"),
    "Global-Default": priorityClass["globalDefault"] === true,
    PreemptionPolicy: textIn(priorityClass, "preemptionPolicy"),
  };
}

export function runtimeClassCells(runtimeClass: JsonObject): Cells {
  return { Handler: textIn(runtimeClass, "handler") };
}

export function leaseCandidateCells(candidate: JsonObject): Cells {
  const spec = structIn(candidate, "spec");
  return {
    LeaseName: textIn(spec, "leaseName"),
    BinaryVersion: textIn(spec, "binaryVersion"),
    EmulationVersion: textIn(spec, "emulationVersion"),
  };
}

export function storageVersionCells(version: JsonObject): Cells {
  const status = structIn(version, "status");
  const servers = structsIn(status, "storageVersions").map(
    (server) => `${textIn(server, "apiServerID")}=${textIn(server, "encodingVersion")}`,
  );
  return {
    CommonEncodingVersion: textIn(status, "commonEncodingVersion") || "<unset>",
    StorageVersions: firstFew(servers, versionsShownMax) || "<unset>",
  };
}

const migrationStates: ReadonlySet<string> = new Set(["Running", "Failed", "Succeeded"]);

export function storageVersionMigrationCells(migration: JsonObject): Cells {
  const resource = structIn(structIn(migration, "spec"), "resource");
  const reached = structsIn(structIn(migration, "status"), "conditions").findLast(
    (condition) => textIn(condition, "status") === "True" && migrationStates.has(textIn(condition, "type")),
  );
  return {
    Resource: [textIn(resource, "resource"), textIn(resource, "group")].filter((part) => part !== "").join("."),
    Status: reached === undefined ? "Unknown" : textIn(reached, "type"),
  };
}

export function apiServiceCells(apiService: JsonObject): Cells {
  const spec = structIn(apiService, "spec");
  const service = structIn(spec, "service");
  const local = spec["service"] === undefined;
  return {
    Service: local ? "Local" : `${textIn(service, "namespace")}/${textIn(service, "name")}`,
    Available: availableText(structIn(apiService, "status")),
  };
}

export function componentStatusCells(component: JsonObject): Cells {
  const healthy = structsIn(component, "conditions").find(({ type }) => type === "Healthy");
  const texts: Readonly<Record<string, string>> = { True: "Healthy", False: "Unhealthy" };
  return {
    Status: texts[textIn(healthy ?? {}, "status")] ?? "Unknown",
    Message: textIn(healthy ?? {}, "message"),
    Error: textIn(healthy ?? {}, "error"),
  };
}

function availableText(status: JsonObject): string {
  const available = structsIn(status, "conditions").find(({ type }) => type === "Available");
  if (available === undefined) return "Unknown";
  const text = textIn(available, "status");
  return text === "True" ? text : `${text} (${textIn(available, "reason")})`;
}
