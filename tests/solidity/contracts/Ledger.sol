// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// A mapping whose cells move with a sum.
contract Ledger {
    mapping(address => uint) balance;
    uint total;

    function deposit(uint amount) public {
        uint before = balance[msg.sender];
        balance[msg.sender] += amount;
        total += amount;
        assert(balance[msg.sender] >= before); // expect: safe
    }

    function withdraw(uint amount) public {
        require(balance[msg.sender] >= amount);
        balance[msg.sender] -= amount;
        // The sum is not known to be as large as each of its parts here; it is checked instead.
        require(total >= amount);
        total -= amount;
    }

    function move(address to, uint amount) public {
        require(balance[msg.sender] >= amount);
        uint sum = balance[msg.sender] + balance[to];
        balance[msg.sender] -= amount;
        balance[to] += amount;
        assert(balance[msg.sender] + balance[to] == sum); // expect: safe
    }

    // Who sends to himself gains.
    function moveCached(address to, uint amount) public {
        uint mine = balance[msg.sender];
        uint other = balance[to];
        require(mine >= amount && other < 100 && mine < 100);
        balance[msg.sender] = mine - amount;
        balance[to] = other + amount;
        assert(balance[msg.sender] + balance[to] == mine + other); // expect: unsafe
    }
}
