#!/usr/bin/env node
import { main } from "./program.ts";
import { processTerminal } from "./terminal.ts";

// Whoever asks for stacks gets lines of the source; modules loaded from here on have them.
if ((process.env["ROTE_DEBUG"] ?? "") !== "") process.setSourceMapsEnabled(true);

process.exitCode = await main(process.argv.slice(2), processTerminal());
