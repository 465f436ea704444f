import type { JsonObject, JsonValue } from "../../json.ts";
import type { Cells } from "./cells.ts";
import { numberIn, structIn, structsIn, textIn } from "./reading.ts";

export function flowSchemaCells(schema: JsonObject): Cells {
  const spec = structIn(schema, "spec");
  const dangling = structsIn(structIn(schema, "status"), "conditions").find(({ type }) => type === "Dangling");
  return {
    PriorityLevel: textIn(structIn(spec, "priorityLevelConfiguration"), "name"),
    MatchingPrecedence: numberIn(spec, "matchingPrecedence"),
    DistinguisherMethod: textIn(structIn(spec, "distinguisherMethod"), "type") || "<none>",
    MissingPL: dangling === undefined ? "?" : textIn(dangling, "status"),
  };
}

export function priorityLevelConfigurationCells(level: JsonObject): Cells {
  const spec = structIn(level, "spec");
  const limited = structIn(spec, "limited");
  const queuing = structIn(structIn(limited, "limitResponse"), "queuing");
  return {
    Type: textIn(spec, "type"),
    NominalConcurrencyShares: orNone(limited["nominalConcurrencyShares"]),
    Queues: orNone(queuing["queues"]),
    HandSize: orNone(queuing["handSize"]),
    QueueLengthLimit: orNone(queuing["queueLengthLimit"]),
  };
}

function orNone(value: JsonValue | undefined): JsonValue {
  return value ?? "<none>";
}
