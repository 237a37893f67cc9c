/** A process of `agent.ts` that plays with Rote; what to play comes as messages from who started it. */
import { ROTE } from "./agent/ours.ts";
import { serve } from "./agent/serve.ts";

serve(ROTE);
