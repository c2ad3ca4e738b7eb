// The worker of superpose/embed, which package.ts has as text.
import { answerQuestions } from './program.js';

answerQuestions();
