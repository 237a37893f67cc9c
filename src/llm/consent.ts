import { RoteError } from "../base/error.ts";
import type { ChatModel } from "../ports/chat-model.ts";

/**
 * A model that costs money, which answers nothing before somebody has agreed to that. `told` is what they would agree to.
 */
export function afterConsent(model: ChatModel, accepted: boolean, told: string): ChatModel {
  if (accepted) return model;
  return {
    identity: model.identity,
    reply() {
      return Promise.reject(
        new RoteError(
          "cost_not_accepted",
          `${model.identity.provider}:${model.identity.name} costs money, and nobody has agreed to that; ${told}`,
          { hint: "agree to the cost (`acceptCost`)" },
        ),
      );
    },
  };
}
