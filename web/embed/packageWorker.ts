import { beWorker } from './program.js';

beWorker();
