/**
 * A first look at a node. Most nodes of a large recipe are bare pure and verify nodes, for which reading them with the
 * schema costs as much as parsing what they compute. This recognises them; whatever it does not know goes to the schema.
 */
import { isJsonArray, isJsonObject, type JsonValue } from "../base/json.ts";
import { ID_PATTERN } from "../model/names.ts";
import type { NodeDocument } from "../model/recipe.ts";

/** True only for what `nodeSchema` accepts as it is. The document comes from the strict reader: nothing is inherited. */
export function isPlainNode(node: JsonValue): node is NodeDocument {
  if (!isJsonObject(node) || !isId(node["id"])) return false;
  for (const member in node) {
    switch (member) {
      case "id":
      case "output":
      case "when":
        break;
      case "after":
        if (!isIds(node[member])) return false;
        break;
      case "step":
        if (!isPlainStep(node[member])) return false;
        break;
      default:
        return false;
    }
  }
  return node["step"] !== undefined;
}

function isPlainStep(step: JsonValue | undefined): boolean {
  if (!isJsonObject(step) || step["value"] === undefined) return false;
  const { kind } = step;
  if (kind === "pure") return Object.keys(step).length === 2;
  return kind === "verify" && step["condition"] !== undefined && Object.keys(step).length === 3;
}

function isId(value: JsonValue | undefined): boolean {
  return typeof value === "string" && ID_PATTERN.test(value);
}

function isIds(value: JsonValue | undefined): boolean {
  return isJsonArray(value) && value.every(isId);
}
