import type { JsonValue } from "../json.ts";
import { expectWireType, readFields, scalarCodecs, tagOf, type ValueCodec } from "./protobuf-scalar.ts";
import { wireBytes, wireVarint } from "./protobuf-wire.ts";

const jsonSchemaProps = "apiextensions/v1.JSONSchemaProps";

/**
 * Returns the codec of a field of JSONSchemaProps that in JSON is either a schema or something else; undefined for any
 * other field. Protobuf has a message for each of these four choices. `props` is the codec of JSONSchemaProps itself.
 */
export function jsonSchemaPropsCodec(parent: string, field: string, props: ValueCodec): ValueCodec | undefined {
  if (parent !== jsonSchemaProps) return undefined;
  if (field === "items") return schemaOrList(props, props, 1, 2);
  if (field === "dependencies") return schemaOrList(props, scalarCodecs.string, 1, 2);
  if (field === "additionalProperties" || field === "additionalItems") return schemaOrBool(props);
  return undefined;
}

/** Returns the codec of `{schema, items}`, of which one is set. */
function schemaOrList(props: ValueCodec, item: ValueCodec, schemaNumber: number, listNumber: number): ValueCodec {
  return {
    wireType: wireBytes,
    zero: undefined,
    write(writer, value) {
      writer.fork();
      if (Array.isArray(value)) {
        for (const one of value) {
          writer.uint32(tagOf(listNumber, wireBytes));
          item.write(writer, one);
        }
      } else if (value !== null) {
        writer.uint32(tagOf(schemaNumber, wireBytes));
        props.write(writer, value);
      }
      writer.ldelim();
    },
    read(reader) {
      let schema: JsonValue | undefined;
      const list: JsonValue[] = [];
      readFields(reader, (number, wireType) => {
        if (number !== schemaNumber && number !== listNumber) return false;
        expectWireType(wireType, wireBytes);
        if (number === schemaNumber) schema = props.read(reader);
        else list.push(item.read(reader));
        return true;
      });
      return list.length > 0 ? list : (schema ?? null);
    },
  };
}

/** Returns the codec of `{allows=1, schema=2}`; a schema implies `allows`. */
function schemaOrBool(props: ValueCodec): ValueCodec {
  return {
    wireType: wireBytes,
    zero: undefined,
    write(writer, value) {
      const isSchema = typeof value === "object" && value !== null;
      writer
        .fork()
        .uint32(tagOf(1, wireVarint))
        .bool(isSchema || value === true);
      if (isSchema) {
        writer.uint32(tagOf(2, wireBytes));
        props.write(writer, value);
      }
      writer.ldelim();
    },
    read(reader) {
      let allows = false;
      let schema: JsonValue | undefined;
      readFields(reader, (number, wireType) => {
        if (number !== 1 && number !== 2) return false;
        expectWireType(wireType, number === 1 ? wireVarint : wireBytes);
        if (number === 1) allows = reader.bool();
        else schema = props.read(reader);
        return true;
      });
      return schema ?? allows;
    },
  };
}
