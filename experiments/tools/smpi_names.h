#pragma once
// SimGrid's compiler includes a header before every file that makes `exit` a macro of one argument,
// which CLI11 has as the name of a function of three. The preset `smpi` includes this one after it;
// the programs call no exit(), they return from main.
#undef exit
