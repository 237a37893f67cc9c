/** Properties are tried on the same values in every run: what fails once fails again. `SEED=n` tries others. */
import fc from "fast-check";

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env["SEED"] ?? 1) });
