import { type IField, Root } from "protobufjs/light.js";

/**
 * Number and type of a field. The type is a scalar or a message of the same table. A map has strings as keys. An optional
 * scalar is sent even if it is zero.
 */
export type MessageField = readonly [id: number, type: string, shape?: "list" | "map" | "optional"];

/** Protobuf messages of another program's API by name: the fields that we read or write. */
export type MessageTable = Readonly<Record<string, Readonly<Record<string, MessageField>>>>;

/** Returns the types of the messages. */
export function messageTypes(table: MessageTable): Root {
  const nested = Object.entries(table).map(([name, fields]) => {
    const described = Object.entries(fields).map(([key, field]) => [key, describe(field)] as const);
    return [name, { fields: Object.fromEntries(described) }] as const;
  });
  return Root.fromJSON({ nested: Object.fromEntries(nested) });
}

function describe([id, type, shape]: MessageField): IField {
  switch (shape) {
    case "list":
      return { id, type, rule: "repeated" };
    case "map":
      return { id, type, keyType: "string" } as IField;
    case "optional":
      return { id, type, options: { features: { field_presence: "EXPLICIT" } } };
    default:
      return { id, type };
  }
}
