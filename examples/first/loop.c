/* A loop that counts in two ways. Whatever n is, the assertion holds. */
extern int nondet(void);
extern void assert(int);

int main(void) {
    int n = nondet();
    int i = 0, sum = 0;
    while (i < n) {
        i = i + 1;
        sum = sum + 2;
    }
    if (n >= 0)
        assert(sum == 2 * n);
    return 0;
}
